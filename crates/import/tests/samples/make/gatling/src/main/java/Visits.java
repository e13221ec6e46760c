import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.*;
import io.gatling.javaapi.http.*;

/**
 * Two scenarios: users that arrive at 8 a second and make two requests, the second inside two groups; and users that
 * arrive at 2 a second and fail: one request where nothing listens, and one whose session value is missing.
 */
public class Visits extends Simulation {
  private final HttpProtocolBuilder protocol = http.baseUrl(System.getProperty("url"));

  private final ScenarioBuilder visit = scenario("visit")
      .exec(http("home").get("/").check(status().is(200)))
      .pause(java.time.Duration.ofMillis(100))
      .group("find").on(
          group("by name").on(
              exec(http("search, all").get("/search?q=a&n=10").check(status().is(200)))));

  private final ScenarioBuilder lost = scenario("lost – λ")
      .exec(http("refused").get("http://127.0.0.1:1/"))
      .exec(http("unset").get("/#{missing}"));

  {
    setUp(
        visit.injectOpen(constantUsersPerSec(8).during(6).randomized()),
        lost.injectOpen(constantUsersPerSec(2).during(6)))
        .protocols(protocol)
        .assertions(global().failedRequests().percent().lt(90.0), details("home").responseTime().max().lt(5000));
  }
}
