import { CopyButton } from './copy.tsx';

/** A command for a shell, with a button that copies it. */
export const CommandText = ({ command, label }: { command: string; label: string }) => (
  <div className="flex items-start gap-1 rounded-control border border-line bg-page pl-3">
    <pre className="min-w-0 grow py-2 font-mono text-small break-all whitespace-pre-wrap">{command}</pre>
    <CopyButton text={command} label={label} />
  </div>
);
