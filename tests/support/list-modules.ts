import { registerHooks } from 'node:module';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';

/** Prints the modules that an import of the given file loads, one per line. */
const loaded: string[] = [];
registerHooks({
  load(url, context, nextLoad) {
    loaded.push(url);
    return nextLoad(url, context);
  },
});
await import(pathToFileURL(argv[2]!).href);
process.stdout.write(loaded.join('\n'), () => process.exit());
