import { storeContract } from "../contract.ts";
import { memoryStore } from "./memory.ts";

storeContract("memory", { open: async (now) => memoryStore({ now }) });
