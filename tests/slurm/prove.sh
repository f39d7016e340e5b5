#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the job of docs/how-to/slurm.md, as it is printed there, under a Slurm of its own: eight nodes, which are eight slurmd on this
# machine, with ports, keys and files apart from any other Slurm. The program is examples/import_export by MPI alone. As root; installs
# Debian's slurmctld, slurmd and munge. Shows that the commands fit together, and no speed: all nodes share this machine's cores.
# usage: tests/slurm/prove.sh PREFIX        where `make install PREFIX=...` has put nuice
set -euo pipefail
prefix=$(realpath "$1")
cd "$(dirname "$0")/../.."
export DEBIAN_FRONTEND=noninteractive
for package in slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge; do
  dpkg-query -W "$package" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "$package" >/dev/null
done
# Slurm's and munge's sockets want a short path that others cannot write to.
place=$(mktemp -d /run/nuice-slurm.XXXX)
finish() {
  for file in "$place"/*.pid; do [ ! -e "$file" ] || kill "$(cat "$file")" || true; done
  rm -rf "$place"
}
trap finish EXIT
mkdir -p "$place"/{state,spool,log,munge,job} "$place"/tmp/n{1..8}
head -c 1024 /dev/urandom >"$place/munge/key"
chmod 700 "$place"/munge/key && chmod 755 "$place" "$place/munge" && chown -R munge "$place/munge"
# munged runs as its user; the warning is that its log lies beside its socket.
munged --force --socket="$place/munge/socket" --key-file="$place/munge/key" --pid-file="$place/munged.pid" \
  --log-file="$place/munge/log" --seed-file="$place/munge/seed" 2>/dev/null
cat >"$place/slurm.conf" <<CONF
ClusterName=nuice
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=26817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge/socket
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool/%n
TmpFS=$place/tmp/%n
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.%n.pid
SlurmctldLogFile=$place/log/slurmctld
SlurmdLogFile=$place/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=pmix
ReturnToService=2
NodeName=n[1-8] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[26821-26828] CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$place/slurm.conf
slurmctld
for node in n{1..8}; do slurmd -N "$node"; done
cd "$place/job"
"$prefix/bin/python" - "$OLDPWD/docs/how-to/slurm.md" >job.sh <<'PROGRAM'
import re, sys
print(re.search(r"```sh\n(#!/bin/bash.*?)```", open(sys.argv[1]).read(), re.S)[1])
PROGRAM
mpicxx -std=c++20 -O2 -DIMPORT_HEADER='"import_mpi.hpp"' "$OLDPWD/examples/import_export/main.cpp" -o my_program
mkdir home && ln -s "$prefix" home/nuice
HOME=$place/job/home sbatch --wait --output=job.out job.sh || { cat job.out; exit 1; }
cat job.out
grep -q "matrices in halo" job.out
grep -q "nuice-calibrate: wrote" job.out
grep -q "Every byte was verified" job.out
test -s report.html
echo "the job of docs/how-to/slurm.md ran as it is printed, under $(slurmd -V)"
