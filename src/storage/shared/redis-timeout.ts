/**
 * Timeout in slices: a blocked event loop uses up one slice at most, and reads replies that arrived meanwhile in the
 * next.
 */
const timeoutSlices = 5;

export async function withTimeout<T>(reply: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const wait = (parts: number): void => {
      if (parts === 0) return reject(new Error(`Redis did not answer within ${timeoutMs} ms.`));
      timer = setTimeout(() => wait(parts - 1), timeoutMs / timeoutSlices);
    };
    wait(timeoutSlices);
  });
  try {
    return await Promise.race([reply, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
