"""Two requests, one check that does not hold now and then, and a target that is not there."""

from locust import HttpUser, between, events, task
from locust.contrib.csv_request_logger import CsvRequestLogger

logger = CsvRequestLogger("requests.csv")


@events.init.add_listener
def register(environment, **_):
    logger.register(environment)


class Visitor(HttpUser):
    wait_time = between(0.05, 0.25)

    @task(5)
    def home(self):
        self.client.get("/home")

    @task(4)
    def search(self):
        with self.client.post("/search?q=1", "text", name="search, all", catch_response=True) as answer:
            if answer.status_code == 200 and answer.elapsed.total_seconds() > 0.008:
                answer.failure('too "slow",\nsays the check')

    @task(1)
    def lost(self):
        self.client.get("http://127.0.0.1:1/lost", name="lost")
