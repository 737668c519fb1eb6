"""Pictures as plain data: scales, paths and charts, which a template writes as SVG."""
