package component

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status is the part of a component's status that the reconciler writes. Embed
// it in the status of your type, with the tag json:",inline".
type Status struct {
	// ObservedGeneration is the generation of the last pass.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions holds the conditions of package ctrlx.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Progress describes the last apply; nil: no pass came to the dependents.
	Progress *Progress `json:"progress,omitempty"`
	// Inventory lists the dependents; nil: none was ever applied.
	Inventory *Inventory `json:"inventory,omitempty"`
}

// Progress counts waves and objects.
type Progress struct {
	// WavesReady is the number of waves that are ready, of Waves.
	WavesReady int `json:"wavesReady"`
	Waves      int `json:"waves"`
	// Ready is the number of objects that are applied and ready, of Objects.
	Ready   int `json:"ready"`
	Objects int `json:"objects"`
}

// DeepCopyInto copies s into out, as the methods of generated types do.
func (s *Status) DeepCopyInto(out *Status) {
	*out = *s
	out.Conditions = slices.Clone(s.Conditions)
	if s.Progress != nil {
		p := *s.Progress
		out.Progress = &p
	}
	if s.Inventory != nil {
		out.Inventory = s.Inventory.clone()
	}
}
