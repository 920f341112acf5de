import { stripTypeScriptTypes } from 'node:module';
import { type MessagePort, workerData } from 'node:worker_threads';

export interface StrippedTypes {
  readonly code: string;
  /** Undefined where the source is TypeScript whose types can be stripped. */
  readonly fault: { readonly line: number; readonly message: string } | undefined;
}

/** Strips types of the given sources and ends; see `strip-types.ts`. */
export interface StripJob {
  readonly sources: readonly string[];
  readonly port: MessagePort;
  /** Set to 1 once the result is posted. */
  readonly signal: Int32Array;
}

function strip(source: string): StrippedTypes {
  try {
    return { code: stripTypeScriptTypes(source), fault: undefined };
  } catch (error) {
    if (!(error instanceof SyntaxError))
      return { code: '', fault: { line: 1, message: 'the parser cannot read it: it may be nested too deeply' } };
    const [, line = '1'] = /^[^\n]*:(\d+)\n/.exec(error.stack ?? '') ?? [];
    return { code: '', fault: { line: Number(line), message: error.message } };
  }
}

const { sources, port, signal } = workerData as StripJob;
// Node marks the function as experimental; operators can do nothing about it.
process.emitWarning = () => undefined;
port.postMessage(sources.map(strip));
Atomics.store(signal, 0, 1);
Atomics.notify(signal, 0);
