"""Run folders and what people read of them. The only code that touches the top-level folder `reports/`, baselines apart."""
