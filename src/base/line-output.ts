import { type FileHandle, open, stat } from 'node:fs/promises';
import { every } from './repeat.ts';

/**
 * Batched output of log lines. Lines are ASCII, so that characters are bytes. A line costs no system call and no
 * promise; a chunk is one write of whole lines, so that lines of several threads in one file do not mix.
 */
export interface LineOutput {
  /** Adds a line, with its line feed; false where the buffer is full: the line is dropped. */
  write(line: string): boolean;
  /** Log rotation: opens the file again. No effect on standard output. */
  reopen(): Promise<void>;
  /** Returns and resets the number of accepted lines whose write failed. */
  drainLost(): number;
  /** Writes the rest; bounded in time. */
  close(): Promise<void>;
}

export interface LineOutputOptions {
  /** Path of a file, which is appended to; empty for standard output. */
  readonly path: string;
  readonly maxBufferBytes: number;
  /** Called once when writing or reopening begins to fail, and again after it has worked in between. */
  readonly onError: (error: Error) => void;
  readonly flushIntervalMs?: number;
}

/** A full chunk is written at once, without waiting for the interval. */
const chunkBytes = 65_536;
const maxSpareChunks = 4;
const defaultFlushIntervalMs = 200;
/** Moved files are detected within a second. */
const moveCheckIntervalMs = 1000;
const closeTimeoutMs = 2000;
const fileMode = 0o640;

/** Where batches go. */
interface Destination {
  /** Writes the parts in order. The parts may be used again when the promise settles. */
  write(parts: readonly Buffer[]): Promise<unknown>;
  reopen(): Promise<void>;
  /** Reopens a file that was moved or removed. */
  reopenIfMoved(): Promise<void>;
  close(): Promise<void>;
}

export async function createLineOutput(options: LineOutputOptions): Promise<LineOutput> {
  const { path, maxBufferBytes, flushIntervalMs = defaultFlushIntervalMs } = options;
  const destination = path === '' ? createStandardOutput() : await openFile(path);
  const report = createErrorReport(options.onError);
  const buffer = createLineBuffer(destination, maxBufferBytes, report);
  const reopenWith = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      report.onError(error as Error);
    }
  };
  const flushes = every(flushIntervalMs, () => void buffer.flush(), { onError: report.onError, unref: true });
  const moveChecks = every(moveCheckIntervalMs, () => reopenWith(destination.reopenIfMoved), {
    onError: report.onError,
    unref: true,
  });
  return {
    write: buffer.write,
    reopen: () => reopenWith(destination.reopen),
    drainLost: buffer.drainLost,
    async close() {
      flushes.stop();
      await moveChecks.close();
      await withTimeout(buffer.writeRest());
      await destination.close();
    },
  };
}

/** Whole lines in a buffer: each line is copied once, and a full chunk is written as it is. */
interface Chunk {
  readonly bytes: Buffer;
  usedBytes: number;
  lines: number;
}

const createChunk = (minBytes: number): Chunk => ({
  bytes: Buffer.allocUnsafeSlow(Math.max(chunkBytes, minBytes)),
  usedBytes: 0,
  lines: 0,
});

function addLine(chunk: Chunk, line: string): void {
  chunk.usedBytes += chunk.bytes.write(line, chunk.usedBytes, 'latin1');
  chunk.lines++;
}

const listParts = (chunks: readonly Chunk[]): Buffer[] =>
  chunks.map(({ bytes, usedBytes }) => bytes.subarray(0, usedBytes));

const countBytes = (chunks: readonly Chunk[]) => chunks.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
const countLines = (chunks: readonly Chunk[]) => chunks.reduce((sum, { lines }) => sum + lines, 0);

/** Written chunks for the next lines: new buffers make the garbage collector run more often. */
function createChunkPool() {
  const spare: Buffer[] = [];
  return {
    take(minBytes: number): Chunk {
      const bytes = minBytes <= chunkBytes ? spare.pop() : undefined;
      return bytes ? { bytes, usedBytes: 0, lines: 0 } : createChunk(minBytes);
    },
    release(chunks: readonly Chunk[]): void {
      for (const { bytes } of chunks)
        if (bytes.length === chunkBytes && spare.length < maxSpareChunks) spare.push(bytes);
    },
  };
}

/** Lines until they are written; one write at a time. */
function createLineBuffer(destination: Destination, maxBytes: number, report: ErrorReport) {
  let current = createChunk(0);
  /** Full chunks that wait for the write in progress. */
  let full: Chunk[] = [];
  let unwrittenBytes = 0;
  let lostLines = 0;
  let writing: Promise<void> | undefined;

  const spare = createChunkPool();

  /** Writes the full chunks with one system call. Never rejects. */
  async function writeChunks(): Promise<void> {
    const chunks = full;
    full = [];
    try {
      await destination.write(listParts(chunks));
      report.onSuccess();
    } catch (error) {
      lostLines += countLines(chunks);
      report.onError(error as Error);
    }
    unwrittenBytes -= countBytes(chunks);
    spare.release(chunks);
    writing = undefined;
  }

  function startChunk(minBytes: number): void {
    full.push(current);
    current = spare.take(minBytes);
  }

  function flush(): Promise<void> | undefined {
    if (writing !== undefined) return writing;
    if (current.usedBytes > 0) startChunk(0);
    if (full.length > 0) writing = writeChunks();
    return writing;
  }

  return {
    write(line: string): boolean {
      if (unwrittenBytes + line.length > maxBytes) return false;
      if (current.usedBytes + line.length > current.bytes.length) {
        startChunk(line.length);
        writing ??= writeChunks();
      }
      addLine(current, line);
      unwrittenBytes += line.length;
      return true;
    },
    flush,
    async writeRest(): Promise<void> {
      while (unwrittenBytes > 0) await flush();
    },
    drainLost(): number {
      const lost = lostLines;
      lostLines = 0;
      return lost;
    },
  };
}

type ErrorReport = ReturnType<typeof createErrorReport>;

/** Reports the first of a row of errors. */
function createErrorReport(onError: (error: Error) => void) {
  let isFailing = false;
  return {
    onError(error: Error): void {
      if (!isFailing) onError(error);
      isFailing = true;
    },
    onSuccess(): void {
      isFailing = false;
    },
  };
}

async function withTimeout(work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, closeTimeoutMs);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** In a worker thread standard output goes through the main thread, which acknowledges it. */
const createStandardOutput = (): Destination => ({
  // Copied: the message to the main thread may be sent after the callback.
  write: parts =>
    new Promise<void>((resolve, reject) => {
      process.stdout.write(Buffer.concat(parts), error => (error ? reject(error) : resolve()));
    }),
  reopen: async () => undefined,
  reopenIfMoved: async () => undefined,
  close: async () => undefined,
});

async function openFile(path: string): Promise<Destination> {
  let file = await open(path, 'a', fileMode);
  let reopening: Promise<void> | undefined;

  /** The old file stays in use when the new one cannot be opened. */
  async function replaceFile(): Promise<void> {
    const next = await open(path, 'a', fileMode);
    const old = file;
    file = next;
    // Waits for a write in progress.
    await old.close();
  }

  const reopen = () => {
    reopening ??= replaceFile().finally(() => {
      reopening = undefined;
    });
    return reopening;
  };

  return {
    write: parts => writeParts(file, parts),
    reopen,
    async reopenIfMoved() {
      if (await isMoved(file, path)) await reopen();
    },
    async close() {
      await reopening;
      await file.close();
    },
  };
}

/** One system call, unless the disk takes a part only. */
async function writeParts(file: FileHandle, parts: readonly Buffer[]): Promise<void> {
  let rest = parts;
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest);
    rest = skipBytes(rest, bytesWritten);
  }
}

function skipBytes(parts: readonly Buffer[], count: number): readonly Buffer[] {
  let left = count;
  let at = 0;
  for (; at < parts.length && left >= parts[at]!.length; at++) left -= parts[at]!.length;
  return left === 0 ? parts.slice(at) : [parts[at]!.subarray(left), ...parts.slice(at + 1)];
}

async function isMoved(file: FileHandle, path: string): Promise<boolean> {
  const [opened, named] = await Promise.all([file.stat(), statOrUndefined(path)]);
  return named === undefined || named.ino !== opened.ino || named.dev !== opened.dev;
}

async function statOrUndefined(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
