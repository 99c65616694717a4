/** The flows of Trivet's client, by name. */
export function createFlows(base: string, text: string): Record<string, () => Promise<unknown>>;
