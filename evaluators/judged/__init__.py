"""Files of judged scores beside a run's records, and their summaries.

`hexathlon.baselines.judging` writes these files; no judge or model is called here.
"""
