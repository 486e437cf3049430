package ctrlx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-logr/logr"
)

// executable identifies the running program: by a digest of its file and of its
// arguments. Build information does not identify it: a program that was built
// without version control has none.
var executable = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%q", os.Args[1:])
	return hex.EncodeToString(h.Sum(nil)), nil
})

// identify finds out which program runs. If that fails, each restart
// reconciles every object.
func (r *core) identify(logger logr.Logger) {
	if !r.settles {
		return
	}
	var err error
	if r.program, err = r.opt.program(); err != nil {
		logger.Info("a restart reconciles every object, because the executable cannot be read", "reconciler", r.name, "error", err.Error())
	}
}
