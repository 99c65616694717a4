/**
 * Tasks for three servers that need no account, each as a model would do it with the tools themselves, with search mode and
 * with code mode. What a model writes and reads is counted, not what it thinks.
 *
 * @module
 */

export interface Step {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Task {
  readonly name: string;
  /** Calls that a model makes one after the other. */
  readonly steps: readonly Step[];
  /** What it searches for, once for each tool that it needs. */
  readonly queries: readonly string[];
  /** The program that does the same. */
  readonly program: string;
}

export const FILES = 30;
const paths: string[] = Array.from({ length: FILES }, (_, i) => `notes/note-${i + 1}.md`);

export const TASKS: readonly Task[] = [
  {
    name: "add two numbers",
    steps: [{ tool: "everything_get-sum", input: { a: 17, b: 25 } }],
    queries: ["add two numbers"],
    program: `return await tools["everything_get-sum"]({ a: 17, b: 25 })`,
  },
  {
    name: "rename three files",
    steps: [1, 2, 3].map((i) => ({
      tool: "filesystem_move_file",
      input: { source: `drafts/draft-${i}.md`, destination: `drafts/final-${i}.md` },
    })),
    queries: ["rename a file"],
    program: `for (const i of [1, 2, 3]) {
  await tools.filesystem_move_file({ source: \`drafts/draft-\${i}.md\`, destination: \`drafts/final-\${i}.md\` });
}`,
  },
  {
    name: `find the longest of ${FILES} notes`,
    steps: [
      { tool: "filesystem_list_directory", input: { path: "notes" } },
      ...paths.map((path) => ({ tool: "filesystem_read_text_file", input: { path } })),
    ],
    queries: ["list files in a folder", "read a text file"],
    program: `const { content } = await tools.filesystem_list_directory({ path: "notes" });
const names = [...content.matchAll(/\\[FILE\\] (\\S+)/g)].map((match) => match[1]);
const notes = await Promise.all(names.map(async (name) => {
  const { content } = await tools.filesystem_read_text_file({ path: "notes/" + name });
  return { name, length: content.length };
}));
return notes.sort((a, b) => b.length - a.length)[0];`,
  },
  {
    name: "remember ten people, and look one up",
    steps: [
      ...Array.from({ length: 10 }, (_, i) => ({
        tool: "memory_create_entities",
        input: { entities: [{ name: `Person ${i}`, entityType: "person", observations: [`Has desk ${i}`] }] },
      })),
      { tool: "memory_search_nodes", input: { query: "Person 7" } },
    ],
    queries: ["remember facts about people", "look up what is known about a person"],
    program: `for (let i = 0; i < 10; i++) {
  await tools.memory_create_entities({
    entities: [{ name: "Person " + i, entityType: "person", observations: ["Has desk " + i] }],
  });
}
return await tools.memory_search_nodes({ query: "Person 7" });`,
  },
];
