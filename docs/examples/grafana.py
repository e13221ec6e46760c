#!/usr/bin/env python3
"""Makes grafana.json, the dashboard of a run: `python3 docs/examples/grafana.py > docs/examples/grafana.json`."""

import json

SOURCE = {"type": "prometheus", "uid": "${source}"}


def panel(title, unit, x, y, queries, kind="timeseries"):
    return {
        "type": kind, "title": title, "datasource": SOURCE, "gridPos": {"x": x, "y": y, "w": 12, "h": 8},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}} if kind == "timeseries" else {},
        "targets": [{"refId": chr(65 + i), "datasource": SOURCE, "expr": query, "legendFormat": name} for i, (query, name) in enumerate(queries)],
    }


def over(quantile):
    return f"histogram_quantile({quantile}, sum(rate(headway_response_seconds_bucket[$__rate_interval])) by (le))"


PANELS = [
    panel("Response time over the last seconds", "s", 0, 0, [(over(q), name) for q, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))]),
    panel("Response time of the run so far", "s", 12, 0, [("headway_response_time_quantile_seconds", "{{quantile}}")]),
    panel("Requests a second, by outcome", "reqps", 0, 8, [("sum(rate(headway_requests_total[$__rate_interval])) by (outcome)", "{{outcome}}")]),
    panel("Asked for and done", "reqps", 12, 8, [("headway_request_rate", "{{of}}")]),
    panel("Share that failed", "percentunit", 0, 16, [
        ('1 - sum(rate(headway_requests_total{outcome="ok"}[$__rate_interval])) / sum(rate(headway_requests_total[$__rate_interval]))', "failed")]),
    panel("How late the generator itself was", "s", 12, 16, [("headway_send_lag_quantile_seconds", "{{quantile}}")]),
    panel("Response time by step, p99", "s", 0, 24, [
        ("histogram_quantile(0.99, sum(rate(headway_response_seconds_bucket[$__rate_interval])) by (le, step))", "{{step}}")]),
    panel("The load so far", "short", 12, 24, [("headway_load_verdict == 1", "{{headway_load_verdict}}")], kind="stat"),
]

print(json.dumps({
    "title": "Headway", "uid": "headway", "schemaVersion": 39, "refresh": "5s", "time": {"from": "now-15m", "to": "now"}, "tags": ["headway"],
    "templating": {"list": [{"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]},
    "panels": [{**each, "id": i + 1} for i, each in enumerate(PANELS)],
}, indent=1))
