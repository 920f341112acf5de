/**
 * Loaded into the process of each test file: ends a file that runs for too long, and names what kept it running. A file
 * whose server was not closed, for example after a failed `before`, would otherwise wait until the whole run is stopped.
 */

const limitMs = Number(process.env.GW_TEST_FILE_LIMIT_MS ?? 600_000);

if (process.env.NODE_TEST_CONTEXT?.startsWith('child')) setTimeout(endProcess, limitMs).unref();

function endProcess(): void {
  const open = [...new Set(process.getActiveResourcesInfo())].join(', ');
  console.error(`${process.argv[1]} has run for ${limitMs / 1000} s and is ended. Still open: ${open}.`);
  process.exit(1);
}
