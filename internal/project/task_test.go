package project

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func keptForTasks(t *testing.T) Kept {
	t.Helper()
	home := t.TempDir()
	project := filepath.Join(home, "src")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	place, err := NewPlace(home)
	if err != nil {
		t.Fatal(err)
	}
	k := place.Kept(project)
	if err := k.Create(); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTaskLivesAsLongAsItsLock(t *testing.T) {
	k := keptForTasks(t)
	task, lock, err := k.NewTask("1129-abc")
	if err != nil {
		t.Fatal(err)
	}
	if alive, err := task.Alive(); !alive || err != nil {
		t.Errorf("alive = %v, %v", alive, err)
	}
	if task.PID() != os.Getpid() {
		t.Errorf("process id %d, want %d", task.PID(), os.Getpid())
	}
	if err := task.Remove(t.Context()); err == nil {
		t.Error("a living task was removed")
	}
	if _, _, err := k.NewTask("1129-abc"); err == nil {
		t.Error("an id was given twice")
	}
	lock.Release()
	if alive, err := task.Alive(); alive || err != nil {
		t.Errorf("alive = %v, %v after its end", alive, err)
	}
	if got, err := k.TaskByID("1129"); err != nil || got != task {
		t.Errorf("by its begin: %v, %v", got, err)
	}
	if err := task.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := k.ListTasks(); len(list) != 0 || err != nil {
		t.Errorf("left: %v, %v", list, err)
	}
	if _, err := k.TaskByID("1129"); err == nil {
		t.Error("a removed task was found")
	}
}

func TestTaskDiskHasNoName(t *testing.T) {
	k := keptForTasks(t)
	task, lock, err := k.NewTask("a")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	disk, err := task.OpenDisk(1)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.File.Close()
	if info, err := disk.File.Stat(); err != nil || info.Size() != 1<<30 {
		t.Errorf("disk: %v, %v", info, err)
	}
	if _, err := os.Lstat(filepath.Join(task.Dir, taskDiskName)); !os.IsNotExist(err) {
		t.Errorf("the disk still has a name: %v", err)
	}
}

func TestTaskLeftoversGo(t *testing.T) {
	k := keptForTasks(t)
	fresh := filepath.Join(k.Tasks(), newTaskPrefix+"x")
	if err := os.MkdirAll(filepath.Join(fresh, "share"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := k.RemoveTaskLeftovers(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("a folder that is being made was removed: %v", err)
	}
	if err := k.RemoveTaskLeftovers(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fresh); !os.IsNotExist(err) {
		t.Errorf("a leftover is still there: %v", err)
	}
}

func TestTaskIDs(t *testing.T) {
	k := keptForTasks(t)
	for _, id := range []string{"", "../x", "A", "a/b", ".a", "-a"} {
		if _, lock, err := k.NewTask(id); err == nil {
			lock.Release()
			t.Errorf("the id %q was accepted", id)
		}
	}
}
