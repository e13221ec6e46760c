#!/usr/bin/env bash
# Makes the samples of Apache JMeter 5.6.3 (jmeter-csv, jmeter-xml). Needs mvn, a JDK 17 and python3.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need mvn java python3
home="$tools/jmeter-5.6.3"
bash "$make_dir/jmeter/install.sh" "$home"
start_target --error-rate 0.1
mkdir -p "$samples/jmeter-csv" "$samples/jmeter-xml"
save=jmeter.save.saveservice

# run PLAN SAMPLE [OPTION...]: 5 threads, 15 loops of two requests, times in UTC.
run() {
    local plan="$1" sample="$2"
    shift 2
    rm -f "$work/out.jtl"
    java -Duser.timezone=UTC -jar "$home/bin/ApacheJMeter.jar" -n -t "$make_dir/jmeter/$plan.jmx" -l "$work/out.jtl" \
        -j "$work/jmeter.log" -Jport="$port" "$@" >"$work/out.txt" 2>&1 || { cat "$work/out.txt" >&2; exit 1; }
    mv "$work/out.jtl" "$samples/$sample"
}

run plain jmeter-csv/stock.csv
run plain jmeter-csv/ends.csv -Jsampleresult.timestamp.start=false
run plain jmeter-csv/headerless.csv -J$save.print_field_names=false
# The ten columns of the Aggregate Report listener of old.
run plain jmeter-csv/headerless-10.csv -J$save.print_field_names=false -J$save.assertion_results_failure_message=false \
    -J$save.sent_bytes=false -J$save.thread_counts=false -J$save.url=false -J$save.idle_time=false -J$save.connect_time=false
run plain jmeter-csv/all-columns.csv -J$save.sample_count=true -J$save.hostname=true -J$save.filename=true \
    -J$save.encoding=true -Jsample_variables=user,page
run plain jmeter-csv/tabs.csv '-J'$save'.default_delimiter=\t' "-J$save.timestamp_format=yyyy/MM/dd HH:mm:ss.SSS"
# A row for each transaction between those of its requests.
run transaction jmeter-csv/transaction.csv
run transaction jmeter-xml/nested.xml -J$save.output_format=xml -Jloops=8 -Jparent=true
run transaction jmeter-xml/flat.xml -J$save.output_format=xml -Jloops=8
