import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Records sequences of observed states of a Java program as JSON lines: one array of states for each sequence, as programs
 * that use watershed-observe write them. Nothing but the JDK is needed.
 *
 * <pre>
 * try (Recorder recorder = new Recorder(Path.of("sequences.jsonl"))) {
 *     recorder.observe("buf", List.of(0, 1));
 *     recorder.state();       // at every scheduling point
 *     recorder.end();         // at the end of a path
 * }
 * </pre>
 *
 * Neighbours that are equal are written once, and so are sequences. {@link #depth} and {@link #backtrack} serve tools that
 * explore, such as Java Pathfinder.
 */
public final class Recorder implements Closeable {
    private final BufferedWriter output;
    /** The components by name, each as JSON; sorted, so that the order of observations does not matter. */
    private final Map<String, String> components = new TreeMap<>();
    /** The states of the path, repetitions included, so that going back is easy. */
    private final List<String> path = new ArrayList<>();
    private final Set<String> written = new HashSet<>();

    /** Writes to a file. */
    public Recorder(Path file) throws IOException {
        output = Files.newBufferedWriter(file);
    }

    /**
     * The value of a component from now on: null, a Boolean, a Number, a CharSequence, an Iterable, an array of objects or a
     * Map; of anything else, its text.
     */
    public synchronized void observe(String name, Object value) {
        StringBuilder text = new StringBuilder();
        write(value, text);
        components.put(name, text.toString());
    }

    /** The observed components are a state of the sequence. */
    public synchronized void state() {
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<String, String> component : components.entrySet()) {
            if (text.length() > 1) {
                text.append(',');
            }
            quote(component.getKey(), text);
            text.append(':').append(component.getValue());
        }
        path.add(text.append('}').toString());
    }

    /** How many states the path has, to be given to {@link #backtrack}. */
    public synchronized int depth() {
        return path.size();
    }

    /** The path goes on from the state that it had at a depth. */
    public synchronized void backtrack(int depth) {
        path.subList(Math.min(depth, path.size()), path.size()).clear();
    }

    /** The path ends here: its sequence is written, unless it was written before. The path stays, for going back. */
    public synchronized void end() {
        StringBuilder line = new StringBuilder("[");
        String last = null;
        for (String state : path) {
            if (!state.equals(last)) {
                line.append(last == null ? "" : ",").append(state);
                last = state;
            }
        }
        String text = line.append(']').toString();
        if (last == null || !written.add(text)) {
            return;
        }
        try {
            output.write(text);
            output.write('\n');
        } catch (IOException exception) {
            throw new UncheckedIOException(exception);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        output.close();
    }

    private static void write(Object value, StringBuilder text) {
        if (value == null || value instanceof Boolean || isFinite(value)) {
            text.append(value);
        } else if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                text.append(before);
                quote(String.valueOf(entry.getKey()), text);
                text.append(':');
                write(entry.getValue(), text);
                before = ",";
            }
            text.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof Object[] array) {
            write(java.util.Arrays.asList(array), text);
        } else if (value instanceof Iterable<?> elements) {
            text.append('[');
            String before = "";
            for (Object element : elements) {
                text.append(before);
                write(element, text);
                before = ",";
            }
            text.append(']');
        } else {
            quote(String.valueOf(value), text);
        }
    }

    private static boolean isFinite(Object value) {
        if (value instanceof Double || value instanceof Float) {
            return Double.isFinite(((Number) value).doubleValue());
        }
        return value instanceof Number;
    }

    private static void quote(String value, StringBuilder text) {
        text.append('"');
        for (int index = 0; index < value.length(); index++) {
            char character = value.charAt(index);
            if (character == '"' || character == '\\') {
                text.append('\\').append(character);
            } else if (character < ' ') {
                text.append(String.format("\\u%04x", (int) character));
            } else {
                text.append(character);
            }
        }
        text.append('"');
    }
}
