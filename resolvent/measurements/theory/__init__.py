"""What Cao (2021) and Calvello et al. (2024) prove of attention, measured. Each module gives tables."""
