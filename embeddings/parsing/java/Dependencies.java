import edu.stanford.nlp.ling.CoreAnnotations;
import edu.stanford.nlp.ling.CoreLabel;
import edu.stanford.nlp.pipeline.Annotation;
import edu.stanford.nlp.pipeline.StanfordCoreNLP;
import edu.stanford.nlp.semgraph.SemanticGraph;
import edu.stanford.nlp.semgraph.SemanticGraphCoreAnnotations;
import edu.stanford.nlp.semgraph.SemanticGraphEdge;
import edu.stanford.nlp.util.CoreMap;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Properties;

/**
 * Reads captions, one a line in UTF-8, and answers each with one line of JSON: what SPICE's own
 * parser makes of it, and the tokens and dependencies from which it does.
 */
public final class Dependencies {
  private Dependencies() {}

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
    System.setOut(System.err); // what the parser itself says is no answer
    Properties asked = new Properties();
    asked.setProperty("annotators", "tokenize,ssplit,parse,lemma");
    asked.setProperty("threads", "1");
    asked.setProperty("depparse.extradependencies", "MAXIMAL");
    StanfordCoreNLP pipeline = new StanfordCoreNLP(asked);
    Class<?> spice = Class.forName("edu.anu.spice.SpiceParser");
    Object parser = spice.getConstructor(String.class, int.class, Boolean.class)
        .newInstance(null, 1, Boolean.FALSE);
    Method parse = spice.getDeclaredMethod("parseAnnotation", Annotation.class);
    parse.setAccessible(true);
    Field tuples = Class.forName("edu.anu.spice.SpiceParser$ProposedTuples").getField("tuples");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Annotation caption = new Annotation(line);
      pipeline.annotate(caption);
      StringBuilder json = new StringBuilder("{\"caption\": ").append(text(line));
      json.append(", \"tuples\": [");
      String comma = "";
      for (Object tuple : (List<?>) tuples.get(parse.invoke(parser, caption))) {
        json.append(comma).append('[');
        comma = "";
        for (Object slot : (List<?>) tuple) {
          json.append(comma).append(text(slot.toString()));
          comma = ", ";
        }
        json.append(']');
        comma = ", ";
      }
      json.append("], \"sentences\": [");
      comma = "";
      for (CoreMap sentence : caption.get(CoreAnnotations.SentencesAnnotation.class)) {
        json.append(comma).append("{\"tokens\": [");
        comma = "";
        for (CoreLabel token : sentence.get(CoreAnnotations.TokensAnnotation.class)) {
          json.append(comma).append('[').append(text(token.word())).append(", ");
          json.append(text(token.tag())).append(", ").append(text(token.lemma())).append(']');
          comma = ", ";
        }
        json.append("], \"basic\": ").append(edges(sentence.get(
            SemanticGraphCoreAnnotations.BasicDependenciesAnnotation.class)));
        json.append(", \"cc\": ").append(edges(sentence.get(
            SemanticGraphCoreAnnotations.CollapsedCCProcessedDependenciesAnnotation.class)));
        json.append('}');
        comma = ", ";
      }
      out.println(json.append("]}"));
      out.flush();
    }
  }

  private static String edges(SemanticGraph graph) {
    StringBuilder json = new StringBuilder("[");
    if (graph != null) {
      for (SemanticGraphEdge edge : graph.edgeListSorted()) {
        json.append(json.length() == 1 ? "[" : ", [").append(edge.getGovernor().index());
        json.append(", ").append(edge.getDependent().index()).append(", ");
        json.append(text(edge.getRelation().toString())).append(']');
      }
    }
    return json.append(']').toString();
  }

  private static String text(String value) {
    StringBuilder json = new StringBuilder("\"");
    for (char c : value.toCharArray()) {
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        json.append(String.format("\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }
}
