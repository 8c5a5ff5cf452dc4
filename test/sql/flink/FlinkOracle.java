import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.internal.TableResultInternal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;

/**
 * Answers SQL with Flink: reads a request a line as JSON, writes an answer a line.
 *
 * <pre>
 *   {"reset": true}                 a new session
 *   {"sql": "SELECT …"}             the final rows, each value as Flink's client shows it, null for NULL
 *   {"sql": "…", "changes": true}   the changes, each with its kind first
 *   {"sql": "INSERT …", "submit": true}   its job, as soon as it is submitted
 * </pre>
 *
 * An answer is {"rows": [[…]]}, {"job": "…"} or {"error": "…"}. With HOST:PORT as argument the jobs
 * run on the cluster whose REST interface is there, else in this process.
 */
public final class FlinkOracle {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    if (arguments.length == 1) {
      String[] place = arguments[0].split(":");
      answerAll(clientOf(place[0], Integer.parseInt(place[1])), out);
      System.exit(0);
    }
    Configuration settings = new Configuration();
    settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(256));
    settings.set(RestOptions.BIND_PORT, "0");
    settings.set(RestOptions.ADDRESS, "127.0.0.1");
    settings.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
    MiniClusterConfiguration shape =
        new MiniClusterConfiguration.Builder()
            .setConfiguration(settings)
            .setNumTaskManagers(1)
            .setNumSlotsPerTaskManager(4)
            .build();
    try (MiniCluster cluster = new MiniCluster(shape)) {
      cluster.start();
      answerAll(clientOf("127.0.0.1", cluster.getRestAddress().get().getPort()), out);
    }
    System.exit(0);
  }

  private static Configuration clientOf(String host, int port) {
    Configuration client = new Configuration();
    client.set(DeploymentOptions.TARGET, "remote");
    client.set(RestOptions.ADDRESS, host);
    client.set(RestOptions.PORT, port);
    client.setString("parallelism.default", "1");
    client.setString("table.local-time-zone", "UTC");
    return client;
  }

  private static void answerAll(Configuration client, PrintStream out) throws Exception {
    TableEnvironment session = open(client);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonNode request = JSON.readTree(line);
      Map<String, Object> answer = new HashMap<>();
      try {
        if (request.has("reset")) {
          session = open(client);
          answer.put("rows", new ArrayList<>());
        } else if (request.has("submit")) {
          TableResult submitted = session.executeSql(request.get("sql").asText());
          answer.put("job", submitted.getJobClient().get().getJobID().toString());
        } else {
          answer.put("rows", run(session, request.get("sql").asText(), request.has("changes")));
        }
      } catch (Throwable failure) {
        answer.put("error", causes(failure));
      }
      out.println(JSON.writeValueAsString(answer));
    }
  }

  private static TableEnvironment open(Configuration client) {
    return TableEnvironment.create(
        EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(client).build());
  }

  private static String causes(Throwable failure) {
    StringBuilder out = new StringBuilder();
    for (Throwable each = failure; each != null; each = each.getCause()) {
      out.append(out.length() == 0 ? "" : " <- ").append(each.getClass().getSimpleName());
      out.append(": ").append(each.getMessage());
    }
    return out.toString();
  }

  /** What Flink's clients do of SET themselves. */
  private static final Pattern SETTING = Pattern.compile("\\s*SET\\s+'([^']*)'\\s*=\\s*'([^']*)'\\s*");

  private static List<String[]> run(TableEnvironment session, String sql, boolean asChanges)
      throws Exception {
    List<String[]> rows = new ArrayList<>();
    Matcher setting = SETTING.matcher(sql);
    if (setting.matches()) {
      session.getConfig().set(setting.group(1), setting.group(2));
      return rows;
    }
    TableResult ended = session.executeSql(sql);
    if (!(ended instanceof TableResultInternal)) {
      return rows;
    }
    TableResultInternal result = (TableResultInternal) ended;
    try (CloseableIterator<RowData> each = result.collectInternal()) {
      while (each.hasNext()) {
        RowData row = each.next();
        String[] shown = result.getRowDataToStringConverter().convert(row);
        for (int i = 0; i < shown.length; ++i) {
          shown[i] = row.isNullAt(i) ? null : shown[i];
        }
        if (asChanges) {
          String[] change = new String[shown.length + 1];
          change[0] = row.getRowKind().shortString();
          System.arraycopy(shown, 0, change, 1, shown.length);
          rows.add(change);
        } else if (isTaken(row.getRowKind())) {
          remove(rows, shown);
        } else {
          rows.add(shown);
        }
      }
    }
    return rows;
  }

  private static boolean isTaken(RowKind kind) {
    return kind == RowKind.UPDATE_BEFORE || kind == RowKind.DELETE;
  }

  private static void remove(List<String[]> rows, String[] row) {
    for (int i = rows.size() - 1; i >= 0; --i) {
      if (java.util.Arrays.equals(rows.get(i), row)) {
        rows.remove(i);
        return;
      }
    }
    throw new IllegalStateException("a row is taken back that is not there");
  }
}
