#!/usr/bin/env bash
#SBATCH --job-name=hexathlon
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=64
#SBATCH --time=24:00:00
#SBATCH --requeue
# One Ray node per Slurm node; the training command runs on the first. A requeued job resumes the
# run. Usage: sbatch slurm.sh RECIPE.toml SHARED_RUN_FOLDER
set -euo pipefail

recipe=${1:?usage: sbatch slurm.sh RECIPE.toml SHARED_RUN_FOLDER}
out=${2:?usage: sbatch slurm.sh RECIPE.toml SHARED_RUN_FOLDER}
port=6379
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
address=$(srun --nodes=1 --ntasks=1 -w "$head" hostname --ip-address | awk '{print $1}')

# The cluster demands a token, which all nodes read from the shared home directory.
export RAY_AUTH_MODE=token
ray get-auth-token --generate >/dev/null

start() { # NODE ARGUMENTS...: a Ray node that lives as long as the job
    local node=$1
    shift
    srun --nodes=1 --ntasks=1 --overlap -w "$node" ray start --block --disable-usage-stats "$@" &
}

start "$head" --head --port "$port" --include-dashboard=false --resources '{"learner": 8}'
for attempt in $(seq 60); do
    srun --nodes=1 --ntasks=1 --overlap -w "$head" ray health-check --address "$address:$port" && break
    [ "$attempt" -lt 60 ] || { echo "the head node of Ray has not started" >&2; exit 1; }
    sleep 5
done
for node in "${nodes[@]:1}"; do
    start "$node" --address "$address:$port" --resources '{"engine": 8, "environments": 64, "browsers": 8}'
done

# Processes that find no place yet wait for it up to cluster.start_within seconds.
srun --nodes=1 --ntasks=1 --overlap -w "$head" \
    hexathlon train "$recipe" --cluster "$address:$port" --out "$out"
