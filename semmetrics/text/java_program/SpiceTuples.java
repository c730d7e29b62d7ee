import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Reads captions, one a line in UTF-8, and answers each with one line of JSON: the raw tuples of
 * SPICE's own parser, {"tuples": [["dog"], ["dog", "small"]]}, or {"error": "..."}.
 *
 * <p>Arguments: the number of threads, and the seconds that a caption may take. After a caption that
 * takes longer the program answers with its error and ends with status 75, as a parse cannot be
 * stopped. A caption for which memory runs out is an error, too: CoreNLP would go on without a parse.
 * Where it runs out while a class is made, the class can be made no more, and the program ends. It
 * ends, too, when nobody reads its answers. The parser's classes are found by name, so that this
 * class is compiled without them.
 */
public final class SpiceTuples {
  private static final int TOO_LONG = 75;

  /** What CoreNLP says; only there it tells that it gave up a sentence for want of memory. */
  private static final class Messages extends PrintStream {
    private final ThreadLocal<Boolean> outOfMemory = ThreadLocal.withInitial(() -> false);

    Messages(PrintStream out) {
      super(out, true);
    }

    @Override
    public void println(String line) {
      if (String.valueOf(line).matches("(?s).*(ran out of memory|NOT ENOUGH MEMORY).*")) {
        outOfMemory.set(true);
      }
      super.println(line);
    }
  }

  private final Messages messages;
  private final Object pipeline;
  private final Method annotate;
  private final Constructor<?> annotation;
  private final Object parser;
  private final Method parse;
  private final Field tuples;

  private SpiceTuples(Messages messages) throws ReflectiveOperationException {
    this.messages = messages;
    // What the official program asks for, less the named entities, which it never reads.
    Properties asked = new Properties();
    asked.setProperty("annotators", "tokenize,ssplit,parse,lemma");
    asked.setProperty("depparse.extradependencies", "MAXIMAL");
    Class<?> coreNlp = Class.forName("edu.stanford.nlp.pipeline.StanfordCoreNLP");
    Class<?> text = Class.forName("edu.stanford.nlp.pipeline.Annotation");
    pipeline = coreNlp.getConstructor(Properties.class).newInstance(asked);
    annotate = coreNlp.getMethod("annotate", text);
    annotation = text.getConstructor(String.class);
    Class<?> spice = Class.forName("edu.anu.spice.SpiceParser");
    parser = spice.getConstructor(String.class, int.class, Boolean.class)
        .newInstance(null, 1, Boolean.FALSE);
    parse = spice.getDeclaredMethod("parseAnnotation", text);
    parse.setAccessible(true);
    tuples = Class.forName("edu.anu.spice.SpiceParser$ProposedTuples").getField("tuples");
  }

  private String answer(String caption) {
    try {
      messages.outOfMemory.set(false);
      Object parsed = annotation.newInstance(caption);
      annotate.invoke(pipeline, parsed);
      if (messages.outOfMemory.get()) {
        return "{\"error\": \"it needs more memory than Java may take\"}";
      }
      List<?> found;
      synchronized (parser) {
        found = (List<?>) tuples.get(parse.invoke(parser, parsed));
      }
      return "{\"tuples\": " + json(found) + "}";
    } catch (Throwable fault) { // memory and stack that run out among them
      Throwable cause = fault.getCause() == null ? fault : fault.getCause();
      if (cause instanceof LinkageError) { // a class that could not be made stays so
        throw (LinkageError) cause;
      }
      return "{\"error\": " + json(String.valueOf(cause)) + "}";
    }
  }

  private static String json(Object value) {
    StringBuilder out = new StringBuilder();
    if (value instanceof List) {
      for (Object one : (List<?>) value) {
        out.append(out.length() == 0 ? "" : ", ").append(json(one));
      }
      return "[" + out + "]";
    }
    for (char c : value.toString().toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return "\"" + out + "\"";
  }

  public static void main(String[] arguments) throws Exception {
    final int threads = Integer.parseInt(arguments[0]);
    final long seconds = Long.parseLong(arguments[1]);
    final PrintStream out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
    final Messages messages = new Messages(System.err);
    System.setErr(messages);
    System.setOut(messages); // what the parser itself says is no answer
    final SpiceTuples made = new SpiceTuples(messages);
    ExecutorService pool = Executors.newFixedThreadPool(threads, task -> {
      Thread thread = new Thread(null, task, "parser", 1L << 26); // deep trees need a deep stack
      thread.setDaemon(true);
      return thread;
    });
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    Deque<Future<String>> waiting = new ArrayDeque<Future<String>>();
    String line = in.readLine();
    while (line != null || !waiting.isEmpty()) {
      while (line != null && waiting.size() < 2 * threads) {
        final String caption = line;
        waiting.add(pool.submit(() -> made.answer(caption)));
        line = in.readLine();
      }
      try {
        out.print(waiting.remove().get(seconds, TimeUnit.SECONDS) + "\n");
        if (out.checkError()) { // whoever started the program is gone
          break;
        }
      } catch (TimeoutException late) {
        String limit = seconds == 1 ? "1 second" : seconds + " seconds";
        out.print("{\"error\": \"it takes longer than " + limit + "\"}\n");
        out.flush();
        Runtime.getRuntime().halt(TOO_LONG);
      }
    }
    out.flush();
    Runtime.getRuntime().halt(0);
  }
}
