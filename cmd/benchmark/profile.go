package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// notInNames are the characters that names of files do not have.
var notInNames = regexp.MustCompile(`[^\w.]+`)

// profileAll writes profiles of each gateway and scenario, in a round of its own: a profile
// costs time.
func profileAll(ctx context.Context, folder string, s *stage, all []scenario) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, sc := range all {
		for _, p := range s.gateways {
			path := filepath.Join(folder, notInNames.ReplaceAllString(sc.name, "-")+"."+p.name)
			if err := profile(ctx, p, sc, path); err != nil {
				return fmt.Errorf("profiling %s with %s: %w", sc.name, p.name, err)
			}
		}
	}
	return nil
}

// profileTime is the length of a profile.
const profileTime = 5 * time.Second

// profile writes profiles of a gateway under the load of a scenario.
func profile(ctx context.Context, p *process, s scenario, path string) error {
	kinds := []string{"profile", "allocs"}
	failures := make([]error, len(kinds))
	var running sync.WaitGroup
	for i, kind := range kinds {
		running.Go(func() {
			profiled, err := p.ask(ctx, fmt.Sprintf("/debug/pprof/%s?seconds=%d", kind, profileTime/time.Second))
			if err == nil {
				err = os.WriteFile(path+"."+kind+".pprof", profiled, 0o644)
			}
			failures[i] = err
		})
	}
	_, err := measure(ctx, p, s, profileTime)
	running.Wait()
	return errors.Join(append(failures, err)...)
}
