import java.nio.file.Path;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** The community edition of Neo4j, with Bolt, as its own process. It ends with its input. */
public class Neo4jServer {
  public static void main(String[] args) throws Exception {
    Path home = Path.of(args[0]);
    var server =
        new DatabaseManagementServiceBuilder(home)
            .loadPropertiesFromFile(home.resolve("conf/neo4j.conf"))
            .build();
    Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
    Thread.currentThread().join();
  }
}
