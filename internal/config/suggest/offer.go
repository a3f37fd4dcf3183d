package suggest

import (
	"context"
	"os"
	"slices"

	"aibox/internal/config"
)

// Offer is what one preset would add to a config.
type Offer struct {
	Finding
	Entries []string // as config.CheckAllow returns them
}

// Offers returns what the project's files speak of and the settings do not allow.
func Offers(ctx context.Context, project *os.Root, s config.Settings, user User) ([]Offer, error) {
	found, err := Detect(ctx, project)
	if err != nil {
		return nil, err
	}
	var offers []Offer
	for _, f := range found {
		o := Offer{Finding: f}
		for _, e := range user.Entries(f.Preset) {
			if !allows(s, e) {
				o.Entries = append(o.Entries, e)
			}
		}
		if len(o.Entries) > 0 {
			offers = append(offers, o)
		}
	}
	return offers, nil
}

// allows tells whether the settings hold all that an entry would add.
func allows(s config.Settings, entry string) bool {
	extra, err := config.Parse("", []byte("allow: ['"+entry+"']"))
	if err != nil {
		return false
	}
	for _, e := range extra.Allow {
		if !slices.Contains(s.Allow, e) {
			return false
		}
	}
	return true
}
