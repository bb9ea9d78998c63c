#!/bin/sh
# sbatch workflow/profiles/whole-nodes/study.sh --configfile config/cao2021.yaml
# Submit it several times for a long study: each allocation waits for the previous one, and resumes (docs/cluster.md).
#SBATCH --job-name=resolvent
#SBATCH --dependency=singleton
#SBATCH --nodes=2
#SBATCH --exclusive
# Memory of each node in megabytes: the maximum that a job requests.
#SBATCH --mem=180000
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@300
#SBATCH --no-kill
#SBATCH --requeue
#SBATCH --open-mode=append
exec snakemake "$@" --workflow-profile workflow/profiles/whole-nodes \
    --jobs $((SLURM_JOB_NUM_NODES * SLURM_CPUS_ON_NODE)) \
    --resources "gpu=$((SLURM_JOB_NUM_NODES * ${SLURM_GPUS_ON_NODE:-0}))" "mem_mb=$SLURM_MEM_PER_NODE"
