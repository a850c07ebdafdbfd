"""DesiredState states of a cloud: read, compared, judged, waited for, exported."""
