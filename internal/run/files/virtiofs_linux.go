package files

import (
	"context"

	"aibox/internal/share"
	"aibox/internal/share/virtiofs"
)

// missing says why there is no virtiofsd, nil if there is one.
func missing(ctx context.Context) error {
	_, err := virtiofs.Probe(ctx)
	return err
}

func startVirtiofs(ctx context.Context, folders []share.Folder, o Options) (*Server, error) {
	s, err := virtiofs.Start(ctx, folders, virtiofs.Options{Log: o.Log})
	if err != nil {
		return nil, err
	}
	return &Server{process: s, socket: s.Socket()}, nil
}
