package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// profileAll writes a processor profile of each gateway and scenario, in a round of its
// own: a profile costs time.
func profileAll(ctx context.Context, o options, s *stage) error {
	if err := os.MkdirAll(o.profiles, 0o755); err != nil {
		return err
	}
	for _, sc := range o.scenarios {
		for _, g := range s.gateways {
			name := strings.ReplaceAll(sc.name, " ", "-") + "." + g.name + ".pprof"
			if err := profile(ctx, g, sc, filepath.Join(o.profiles, name)); err != nil {
				return fmt.Errorf("profiling %s with %s: %w", sc.name, g.name, err)
			}
		}
	}
	return nil
}

// profileTime is the length of a profile.
const profileTime = 5 * time.Second

// profile writes the profile of a gateway under the load of a scenario.
func profile(ctx context.Context, p *process, s scenario, path string) error {
	var wg sync.WaitGroup
	var profiled []byte
	var failure error
	wg.Go(func() {
		profiled, failure = p.ask(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", profileTime/time.Second))
	})
	_, err := measure(ctx, p, s, profileTime)
	wg.Wait()
	if err != nil {
		return err
	}
	if failure != nil {
		return failure
	}
	return os.WriteFile(path, profiled, 0o644)
}
