#!/bin/sh
# sbatch workflow/profiles/whole-nodes/study.sh --configfile config/cao2021.yaml
# As often as allocations may be needed: each waits for the one before, and goes on (docs/cluster.md).
#SBATCH --job-name=resolvent
#SBATCH --dependency=singleton
#SBATCH --nodes=2
#SBATCH --exclusive
# Of each node, in megabytes: jobs ask for no more.
#SBATCH --mem=180000
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@300
#SBATCH --no-kill
#SBATCH --requeue
#SBATCH --open-mode=append
exec snakemake "$@" --workflow-profile workflow/profiles/whole-nodes \
    --jobs $((SLURM_JOB_NUM_NODES * SLURM_CPUS_ON_NODE)) \
    --resources "gpu=$((SLURM_JOB_NUM_NODES * ${SLURM_GPUS_ON_NODE:-0}))" "mem_mb=$SLURM_MEM_PER_NODE"
