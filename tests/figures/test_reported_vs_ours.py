"""The page of reported and own numbers says what was measured, and nothing that was not."""

from figures.reported_vs_ours import write_reported_vs_ours


def test_the_page_has_a_row_per_run_with_its_ratio_or_its_divergence(make_run, tmp_path):
    why = tmp_path / "why.md"
    why.write_text("## Why\n\nBecause.\n")
    paper = {"train_samples": 1024, "epochs": 100, "batch_size": 8}
    runs = [
        make_run(
            "galerkin",
            attention="galerkin",
            setting=paper,
            level=1.203e-3,
            epochs=100,
            best_test=(1.2e-3, 98),
        ),
        make_run("softmax", attention="softmax", setting=paper, diverged_epoch=7, epochs=100),
    ]
    output = tmp_path / "page.md"
    write_reported_vs_ours({"snakemake --cores 2": runs}, why, output)
    text = output.read_text()
    rows = [line for line in text.splitlines() if "512" in line and line.startswith("|")]
    assert "1.203e-3" in rows[0]
    assert "e-3 [" in rows[0]
    assert "| 1.200e-3 (epoch 98) | 1.00 |" in rows[0]
    assert "diverged (epoch 7)" in rows[1]
    assert "    snakemake --cores 2\n" in text
    assert text.endswith("## Why\n\nBecause.\n")
