"""Flink 2.3 as the PyPI package apache-flink-libraries brings it: fetched once, compiled against."""

import glob
import os
import subprocess
import zipfile

VERSION = "2.3.0"
HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(HERE, "..", "..", ".cache", "flink")
WANTED = ("/lib/", "/bin/")


def fetch(cache=CACHE):
    """The directory of the distribution: lib/ and bin/, fetched into `cache` when they are not there."""
    home = os.path.abspath(os.path.join(cache, "pyflink"))
    if not glob.glob(os.path.join(home, "lib", "*.jar")) or not os.path.isdir(os.path.join(home, "bin")):
        os.makedirs(cache, exist_ok=True)
        wheel = ["pip", "download", "--no-deps", "-d", cache, f"apache-flink-libraries=={VERSION}"]
        subprocess.run(wheel, check=True)
        for found in glob.glob(os.path.join(cache, "*.whl")):
            with zipfile.ZipFile(found) as archive:
                archive.extractall(cache, [x for x in archive.namelist() if any(part in x for part in WANTED)])
            os.remove(found)
    return home


def class_path(cache=CACHE, sources=(os.path.join(HERE, "flink", "FlinkOracle.java"),)):
    """The jars of Flink and some programs of our own, compiled anew."""
    jars = glob.glob(os.path.join(fetch(cache), "lib", "*.jar"))
    out = os.path.join(os.path.abspath(cache), "oracle")
    subprocess.run(["javac", "-cp", ":".join(jars), "-d", out, *sources], check=True)
    return ":".join(sorted(jars) + [out])
