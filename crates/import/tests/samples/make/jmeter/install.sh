#!/usr/bin/env bash
# install.sh FOLDER: lays out Apache JMeter in FOLDER from the jars on Maven Central (needs mvn and a JDK 17) as the
# distribution has them: bin/ApacheJMeter.jar with the stock properties, lib/ and lib/ext/. Does nothing where it is already.
set -euo pipefail
home="${1:?usage: install.sh FOLDER}"
[ -f "$home/installed" ] && exit 0
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
rm -rf "$home"
mkdir -p "$home/bin" "$home/lib/ext" "$home/lib/junit"
mvn -q -B -f "$here/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DoutputDirectory="$home/lib" >&2
mv "$home"/lib/ApacheJMeter_*.jar "$home/lib/ext/"
mv "$home"/lib/ApacheJMeter-*.jar "$home/bin/ApacheJMeter.jar"
python3 - "$home" <<'PY'
import glob, sys, zipfile
home = sys.argv[1]
with zipfile.ZipFile(glob.glob(f"{home}/lib/ext/ApacheJMeter_config-*.jar")[0]) as jar:
    jar.extractall(home, [n for n in jar.namelist() if n.startswith("bin/") and n.count("/") == 1])
PY
touch "$home/installed"
