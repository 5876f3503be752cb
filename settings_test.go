package gpusql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettings(t *testing.T) {
	tests := []struct{ name, value, want, err string }{
		{"device", "cpu", "cpu", ""},
		{"DEVICE", "auto", "auto", ""},
		{"device", "CUDA", "cuda", ""},
		{"device", "cuda:11", "cuda:11", ""},
		{"device", "cuda:-1", "", "want auto, cpu or cuda"},
		{"device", "cuda:", "", "want auto, cpu or cuda"},
		{"device", "cuda1", "", "want auto, cpu or cuda"},
		{"device", "tpu", "", "want auto, cpu or cuda"},
		{"gpu_memory_limit", "8GB", "8589934592", ""},
		{"gpu_memory_limit", "much", "", `gpu_memory_limit cannot be "much"`},
		{"require_gpu", "on", "on", ""},
		{"require_gpu", "yes", "", "want on or off"},
		{"memory_limit", "512MB", "536870912", ""},
		{"memory_limit", "1.5 GiB", "1610612736", ""},
		{"memory_limit", "100", "100", ""},
		{"memory_limit", "64k", "65536", ""},
		{"memory_limit", "-1", "", "want a size"},
		{"memory_limit", "lots", "", "want a size"},
		{"memory_limit", "", "", "want a size"},
		{"max_temp_size", "1GB", "1073741824", ""},
		{"max_temp_size", "x", "", "want a size"},
		{"spill", "always", "always", ""},
		{"spill", "never", "", "want auto or always"},
		{"temp_directory", "/some/where", "/some/where", ""},
		{"temp_directory", "", "", ""},
		{"threads", "3", "3", ""},
		{"threads", "-3", "", "want a number"},
		{"morsel", "3", "3", ""},
		{"morsel", "x", "", "want a number"},
		{"optimizer", "off", "off", ""},
		{"optimizer", "true", "on", ""},
		{"optimizer", "maybe", "", "want on or off"},
		{"disabled_rules", "a, b", "a,b", ""},
		{"hash", "zero", "zero", ""},
		{"hash", "one", "", "want auto or zero"},
		{"index", "none", "none", ""},
		{"index", "some", "", "want auto, btree, lsm, mvcc or none"},
		{"dialect", "mysql", "mysql", ""},
		{"dialect", "klingon", "", "want gpusql or mysql"},
		{"timezone", "utc", "UTC", ""},
		{"timezone", "Europe/Rome", "", "want UTC"},
		{"speed", "fast", "", `there is no setting "speed"`},
	}
	for _, tt := range tests {
		s := defaultSettings()
		err := s.change(tt.name, tt.value)
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err, "%s = %s", tt.name, tt.value)
			require.Equal(t, defaultSettings(), s, "a refused value changes nothing")
			continue
		}
		require.NoError(t, err, "%s = %s", tt.name, tt.value)
		f, err := findSetting(tt.name)
		require.NoError(t, err)
		require.Equal(t, tt.want, f.get(&s))
		require.Equal(t, 1, s.plan)
		require.NoError(t, s.reset(tt.name, defaultSettings()))
		first := defaultSettings()
		require.Equal(t, f.get(&first), f.get(&s), "reset")
	}
}

// Every setting takes back the value that it shows.
func TestSettingsRoundTrip(t *testing.T) {
	s := defaultSettings()
	for _, f := range settingList() {
		require.NoError(t, s.change(f.name, f.get(&s)), f.name)
		require.NotEmpty(t, f.about)
	}
}

func TestParseDSN(t *testing.T) {
	path, o, err := parseDSN(":memory:?threads=2&dialect=mysql", []Option{WithMemoryLimit(1 << 20)})
	require.NoError(t, err)
	require.Empty(t, path)
	require.Equal(t, [][2]string{{"dialect", "mysql"}, {"threads", "2"}, {"memory_limit", "1048576"}}, o.settings)
	path, _, err = parseDSN("dir/file.db", nil)
	require.NoError(t, err)
	require.Equal(t, "dir/file.db", path)
	_, _, err = parseDSN("?%zz", nil)
	require.ErrorContains(t, err, "data source name")
}
