import java.io.Reader;
import java.util.Collections;
import java.util.List;
import javax.script.AbstractScriptEngine;
import javax.script.Bindings;
import javax.script.ScriptContext;
import javax.script.ScriptEngine;
import javax.script.ScriptEngineFactory;
import javax.script.SimpleBindings;

/** An engine called "JavaScript" that answers with the text that it is given, as pretty printing. */
public final class PlainEngineFactory implements ScriptEngineFactory {
  private static final List<String> NAMES = Collections.singletonList("JavaScript");
  @Override public String getEngineName() { return "plain"; }
  @Override public String getEngineVersion() { return "1"; }
  @Override public List<String> getExtensions() { return Collections.emptyList(); }
  @Override public List<String> getMimeTypes() { return Collections.emptyList(); }
  @Override public List<String> getNames() { return NAMES; }
  @Override public String getLanguageName() { return "plain"; }
  @Override public String getLanguageVersion() { return "1"; }
  @Override public Object getParameter(String key) { return null; }
  @Override public String getMethodCallSyntax(String object, String method, String... arguments) { return ""; }
  @Override public String getOutputStatement(String text) { return ""; }
  @Override public String getProgram(String... statements) { return ""; }
  @Override public ScriptEngine getScriptEngine() {
    final ScriptEngineFactory made = this;
    return new AbstractScriptEngine() {
      private Object answer() {
        Object text = getContext().getAttribute("jsonString");
        getContext().setAttribute("result", text, ScriptContext.ENGINE_SCOPE);
        return text;
      }
      @Override public Object eval(String script, ScriptContext context) { return answer(); }
      @Override public Object eval(Reader script, ScriptContext context) { return answer(); }
      @Override public Bindings createBindings() { return new SimpleBindings(); }
      @Override public ScriptEngineFactory getFactory() { return made; }
    };
  }
}
