package main

import (
	"fmt"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"
)

// The names that Azure accepts.
var (
	clusterName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$`)
	poolName    = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)
	subnetName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}/[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$`)
	version     = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?$`)
)

// field is a rule for one field of a manifest.
type field struct {
	path  string
	value string
	holds *regexp.Regexp // nil: any value but ""
	want  string
}

// check returns the error of the first broken rule.
func check(fields ...field) error {
	for _, f := range fields {
		switch {
		case f.value == "":
			return fmt.Errorf("%s: missing; use %s", f.path, f.want)
		case f.holds != nil && !f.holds.MatchString(f.value):
			return fmt.Errorf("%s: %q is invalid; use %s", f.path, f.value, f.want)
		}
	}
	return nil
}

const (
	clusterWant = "the name of a cluster: letters, digits, _ and -, at most 63"
	subnetWant  = `the name of a subnet, as in "network/subnet"`
)

func (c *Cluster) validate() error {
	return check(
		field{"metadata.name", c.Meta.Name, clusterName, clusterWant},
		field{"spec.location", c.Spec.Location, nil, "a region of Azure"},
		field{"spec.kubernetesVersion", c.Spec.KubernetesVersion, version, `a version, as in "1.34"`},
	)
}

func (p *AgentPool) validate() error {
	fields := []field{
		{"metadata.name", p.Meta.Name, poolName, "the name of a pool: a lower-case letter, then lower-case letters and digits, at most 12"},
		{"spec.owner", p.Spec.Owner, clusterName, clusterWant},
		{"spec.vmSize", p.Spec.VMSize, nil, "a size of virtual machines"},
	}
	if p.Spec.Subnet != "" {
		fields = append(fields, field{"spec.subnet", p.Spec.Subnet, subnetName, subnetWant})
	}
	if err := check(fields...); err != nil {
		return err
	}
	if p.Spec.Count < 1 || p.Spec.Count > 1000 {
		return fmt.Errorf("spec.count: %d is out of range; use 1 to 1000", p.Spec.Count)
	}
	return nil
}

func (s *Subnet) validate() error {
	if s.AppearsAfter < 0 {
		return fmt.Errorf("appearsAfter: %s is before the start; use 0s or more", time.Duration(s.AppearsAfter))
	}
	return check(field{"metadata.name", s.Meta.Name, subnetName, subnetWant})
}

// Duration is a time.Duration in the form 9m30s.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	parsed, err := time.ParseDuration(node.Value)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %q is not a duration; use the form 9m30s", node.Line, node.Value)}}
	}
	*d = Duration(parsed)
	return nil
}
