import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * The job of bench/jobs/latency.cpp in Flink's DataStream API: rows that are due at fixed times, over
 * one exchange, and how late they arrive. Runs it to its end.
 *
 * <pre>FlinkLatency HOST:PORT KIND RATE SECONDS DIRECTORY KEY=VALUE…</pre>
 */
public final class FlinkLatency {
  private static final long WARM_UP_US = 5_000_000;
  private static final long KEYS = 100;

  /** Number (-1: not measured), key, and when it is due in microseconds and milliseconds. */
  private static final TypeInformation<Tuple4<Long, Long, Long, Long>> EVENT =
      TypeInformation.of(new TypeHint<Tuple4<Long, Long, Long, Long>>() {});

  /** When the first row was due, which the pace of the one source says. */
  private static volatile long startUs;

  static long nowUs() {
    Instant now = Instant.now();
    return now.getEpochSecond() * 1_000_000 + now.getNano() / 1000;
  }

  public static void main(String[] arguments) throws Exception {
    String[] place = arguments[0].split(":");
    double rate = Double.parseDouble(arguments[2]);
    double seconds = Double.parseDouble(arguments[3]);
    Configuration settings = new Configuration();
    for (int i = 5; i < arguments.length; ++i) {
      String[] each = arguments[i].split("=", 2);
      settings.setString(each[0], each[1]);
    }
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createRemoteEnvironment(
            place[0], Integer.parseInt(place[1]), settings);
    SingleOutputStreamOperator<Tuple4<Long, Long, Long, Long>> events =
        env.fromSource(
                new DataGeneratorSource<>(
                    new Due(rate), (long) (rate * seconds), readers -> new Pace(rate), EVENT),
                WatermarkStrategy.noWatermarks(),
                "events")
            .setParallelism(1);
    SingleOutputStreamOperator<Tuple4<Long, Long, Long, Long>> last;
    if (arguments[1].equals("project")) {
      last =
          events
              .filter(in -> in.f1 % 10 != 9)
              .setParallelism(1)
              .map(in -> Tuple4.of(in.f0, in.f1 + 1, in.f2, in.f3))
              .returns(EVENT)
              .setParallelism(1)
              .rebalance()
              .process(new Measure(arguments[4]));
    } else {
      last =
          events
              .assignTimestampsAndWatermarks(
                  WatermarkStrategy.<Tuple4<Long, Long, Long, Long>>forMonotonousTimestamps()
                      .withTimestampAssigner((in, before) -> in.f3))
              .setParallelism(1)
              .keyBy(in -> in.f1, Types.LONG)
              .window(TumblingEventTimeWindows.of(Duration.ofSeconds(1)))
              .reduce((sum, in) -> in, new End())
              .process(new Measure(arguments[4]));
    }
    last.sinkTo(new DiscardingSink<>());
    env.execute("latency");
  }

  /** Makes the rows. */
  private static final class Due
      implements GeneratorFunction<Long, Tuple4<Long, Long, Long, Long>> {
    private final double rate;

    Due(double rate) {
      this.rate = rate;
    }

    @Override
    public Tuple4<Long, Long, Long, Long> map(Long i) {
      long afterUs = (long) (i / rate * 1e6);
      long dueUs = startUs + afterUs;
      return Tuple4.of(afterUs < WARM_UP_US ? -1 : i, i % KEYS, dueUs, dueUs / 1000);
    }
  }

  /** Holds the source back until the next row is due, and then at least a millisecond. */
  private static final class Pace implements RateLimiter<NumberSequenceSplit>, Serializable {
    private final double rate;
    private long taken;
    private transient ScheduledExecutorService timer;

    Pace(double rate) {
      this.rate = rate;
    }

    @Override
    public CompletionStage<Void> acquire(int rows) {
      if (taken == 0) {
        startUs = nowUs();
        timer =
            Executors.newSingleThreadScheduledExecutor(
                work -> {
                  Thread thread = new Thread(work, "pace");
                  thread.setDaemon(true);
                  return thread;
                });
      }
      long waitUs = startUs + (long) (taken / rate * 1e6) - nowUs();
      taken += rows;
      if (waitUs <= 0) {
        return CompletableFuture.completedFuture(null);
      }
      CompletableFuture<Void> due = new CompletableFuture<>();
      timer.schedule(() -> due.complete(null), Math.max(waitUs, 1000), TimeUnit.MICROSECONDS);
      return due;
    }
  }

  /** A window is due at its end. */
  private static final class End
      extends ProcessWindowFunction<
          Tuple4<Long, Long, Long, Long>, Tuple4<Long, Long, Long, Long>, Long, TimeWindow> {
    @Override
    public void process(
        Long key,
        Context window,
        Iterable<Tuple4<Long, Long, Long, Long>> rows,
        Collector<Tuple4<Long, Long, Long, Long>> out) {
      Tuple4<Long, Long, Long, Long> last = rows.iterator().next();
      out.collect(Tuple4.of(last.f0, key, window.window().getEnd() * 1000, last.f3));
    }
  }

  /** The sink, which counts latencies in steps of less than two percent. */
  private static final class Measure
      extends ProcessFunction<Tuple4<Long, Long, Long, Long>, Tuple4<Long, Long, Long, Long>> {
    private static final int FINE = 64;
    private static final long EARLY_US = -1000;
    private final String directory;
    private final long[] counts = new long[FINE * 40];

    Measure(String directory) {
      this.directory = directory;
    }

    @Override
    public void processElement(
        Tuple4<Long, Long, Long, Long> in,
        Context context,
        Collector<Tuple4<Long, Long, Long, Long>> out) {
      long latencyUs = nowUs() - in.f2;
      if (in.f0 >= 0 && latencyUs >= EARLY_US) {
        ++counts[index(Math.max(latencyUs, 0))];
      }
    }

    private static int index(long value) {
      if (value < FINE) {
        return (int) value;
      }
      int shift = 64 - Long.numberOfLeadingZeros(value) - 7;
      return (int) ((shift + 1) * FINE + ((value >> shift) - FINE));
    }

    private static long lowerBound(int index) {
      return index < FINE ? index : (long) (FINE + index % FINE) << (index / FINE - 1);
    }

    @Override
    public void close() throws Exception {
      StringBuilder lines = new StringBuilder();
      for (int i = 0; i < counts.length; ++i) {
        if (counts[i] != 0) {
          lines.append(lowerBound(i)).append(' ').append(counts[i]).append('\n');
        }
      }
      int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
      Files.writeString(Path.of(directory, "latency-" + subtask), lines.toString());
    }
  }
}
