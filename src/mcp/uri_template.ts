/**
 * URI templates (https://www.rfc-editor.org/rfc/rfc6570) read backwards: from a URI to its variables. Levels 1 and 2
 * as far as resources need them: `{name}` is one path segment, `{+name}` may have slashes.
 *
 * @module
 */

/**
 * A function that gives the percent-decoded variables of a URI that the template could have made.
 * @throws {TypeError} for an expression that it does not know
 */
export function compileUriTemplate(template: string): (uri: string) => Record<string, string> | undefined {
  const names: string[] = [];
  const source = template.split(/(\{[^}]*\})/).map((part) => {
    if (!part.startsWith("{")) return part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    const match = /^\{(\+?)([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(part);
    if (!match) {
      throw new TypeError(`Cannot read URI template "${template}": "${part}" must be {name} or {+name}`);
    }
    names.push(match[2]!);
    return match[1] === "+" ? "([^?#]+)" : "([^/?#]+)";
  }).join("");
  const pattern = new RegExp(`^${source}$`);
  return (uri) => {
    const values = pattern.exec(uri)?.slice(1);
    if (!values) return undefined;
    try {
      return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(values[i]!)]));
    } catch {
      return undefined;
    }
  };
}
