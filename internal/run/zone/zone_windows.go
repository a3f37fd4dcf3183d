package zone

// host returns "": Windows names its time zones in another way.
func host() string { return "" }
