#!/bin/sh
# A sweep on a Slurm cluster: an array of workers takes trials from the folder of the sweep, which all machines share.
#
#   scenarios/sweeps/slurm.sh SWEEP.yaml /shared/FOLDER
#
# The last job writes the results, and runs what workers have left that were killed.
set -eu
if [ "${1:-}" = --work ]; then
    exec tenter sweep worker --ledger "$2" --workers "${SLURM_CPUS_PER_TASK:-1}"
fi
file=$1 folder=$2
tenter sweep "$file" -o "$folder" --queue
workers=$(sbatch --parsable --array=0-63 --cpus-per-task=4 --time=01:00:00 "$0" --work "$folder")
sbatch --dependency=afterany:"$workers" --cpus-per-task=4 --wrap "tenter sweep '$file' -o '$folder'"
