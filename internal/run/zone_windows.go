package run

// timeZone returns "": Windows names its time zones in another way.
func timeZone() string { return "" }
