/** The program's ties to the process it is: output, environment, signals, the end. */

export const print = (text: string): void => {
  process.stdout.write(text);
};

/** Whether a person reads what is printed, and neither a file nor a log collector does. */
export const isTerminal = (): boolean => process.stdout.isTTY === true;

export const printError = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

export const readEnvironment = (): Record<string, string | undefined> => process.env;

export const setExitCode = (code: number): void => {
  process.exitCode = code;
};

/** Stops once, whatever was asked how often; a second signal, or more time than given, ends the process at once. */
export function onShutdownSignal(stop: (signal: string) => Promise<void>, graceMs: number): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), graceMs).unref();
    stop(signal).catch(error => {
      printError(`could not stop cleanly: ${(error as Error).message}`);
      process.exit(1);
    });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
