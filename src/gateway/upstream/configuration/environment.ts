/**
 * References to environment variables in a configuration: `${NAME}`, `${NAME:-default}`, and `${env:NAME}` as VS Code
 * has it.
 *
 * @module
 */

/** The value of an environment variable; `undefined` when it is not set. */
export type ReadVariable = (name: string) => string | undefined;

/**
 * How references are replaced: by these variables, or not at all, as in a configuration that was added at run time: its author
 * must not read the variables of this process. Without variables each reference needs a default.
 */
export type References = ReadVariable | "literal" | undefined;

/** Replaces the references of a text. Calls `onProblem` for each that has no value. */
export function parseEnvironment(
  text: string,
  references: References,
  onProblem: (problem: string) => void,
): string {
  if (references === "literal") return text;
  return text.replace(/\$\{([^}]*)\}/g, (reference, content: string) => {
    const found = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/.exec(content);
    if (!found) {
      onProblem(`cannot resolve ${reference}. Only environment variables are available`);
      return "";
    }
    const [, name, replacement] = found;
    const value = references?.(name!) ?? replacement;
    if (value === undefined) onProblem(`environment variable ${name} is not set`);
    return value ?? "";
  });
}
