import { storeContract } from "../contract/contract.ts";
import { memoryStore } from "./memory.ts";

storeContract("memory", { open: async (now) => memoryStore({ now }) });
