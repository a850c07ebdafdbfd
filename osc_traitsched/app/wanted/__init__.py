"""What files want of a cloud: read, compared, judged, waited for, and exported."""
