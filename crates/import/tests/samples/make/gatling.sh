#!/usr/bin/env bash
# Makes the samples of Gatling: text logs of 3.10.5 and 3.11.5 (gatling-text), binary ones of 3.13.0 and 3.15.1
# (gatling-binary). Needs mvn and a JDK 17.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need mvn java
start_target --error-rate 0.1

# run VERSION FILE: the simulation.log of gatling/src/main/java/Visits.java, without reports.
run() {
    local version="$1" build="$work/gatling-$1"
    mvn -q -B -f "$make_dir/gatling/pom.xml" -Dgatling.version="$version" -Dbuild="$build" \
        compile dependency:build-classpath -Dmdep.outputFile="$build/classpath" >&2
    # Gatling exits with 2 when an assertion of the simulation fails; the log is complete then too.
    java --add-opens=java.base/java.lang=ALL-UNNAMED -Duser.timezone=UTC -Durl="$url" \
        -cp "$build/classes:$(cat "$build/classpath")" io.gatling.app.Gatling -s Visits -nr -rf "$build/results" \
        >"$build/out.txt" 2>&1 || true
    local log=("$build"/results/*/simulation.log)
    [ -f "${log[0]}" ] || { cat "$build/out.txt" >&2; exit 1; }
    mkdir -p "$(dirname "$samples/$2")"
    mv "${log[0]}" "$samples/$2"
}

run 3.10.5 gatling-text/3.10.5.log
run 3.11.5 gatling-text/3.11.5.log
run 3.13.0 gatling-binary/3.13.0.log
run 3.15.1 gatling-binary/3.15.1.log
