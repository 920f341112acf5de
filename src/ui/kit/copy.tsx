import { Check, Copy, Eye, EyeOff } from 'lucide-react';
import { useEffect, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { IconButton } from './button.tsx';
import { useToasts } from './toast.tsx';

const copiedMs = 1500;
/** A revealed secret hides itself after this time. */
const revealMs = 30_000;

export function CopyButton({ text, label = sharedTexts.kit.copy }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const toasts = useToasts();
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      (error: unknown) => toasts.showError(error instanceof Error ? error.message : String(error)),
    );
  return <IconButton icon={isCopied ? Check : Copy} label={isCopied ? sharedTexts.kit.copied : label} onClick={copy} />;
}

/** Id: monospaced, cut at its start, so that the end that distinguishes it stays; whole for tooltip and copy. */
export const IdText = ({ id, maxChars = 14 }: { id: string; maxChars?: number }) => (
  <span className="inline-flex items-center gap-1">
    <code className="font-mono text-small whitespace-nowrap text-dim" title={id}>
      {id.length > maxChars ? `…${id.slice(-maxChars)}` : id}
    </code>
    <CopyButton text={id} label={`${sharedTexts.kit.copy} ${id}`} />
  </span>
);

/** Secret: masked until it is revealed, for half a minute. */
export function SecretText({ secret, isShownOnce = false }: { secret: string; isShownOnce?: boolean }) {
  const [isRevealed, setRevealed] = useState(isShownOnce);
  useEffect(() => {
    if (!isRevealed || isShownOnce) return;
    const timer = setTimeout(() => setRevealed(false), revealMs);
    return () => clearTimeout(timer);
  }, [isRevealed, isShownOnce]);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-1 rounded-control border border-edge bg-page px-2">
        <code className="grow py-1.5 font-mono break-all">{isRevealed ? secret : '•'.repeat(24)}</code>
        {!isShownOnce && (
          <IconButton
            icon={isRevealed ? EyeOff : Eye}
            label={isRevealed ? sharedTexts.kit.hide : sharedTexts.kit.show}
            onClick={() => setRevealed(!isRevealed)}
          />
        )}
        <CopyButton text={secret} />
      </div>
      {isShownOnce && <p className="text-small text-dim">{sharedTexts.kit.shownOnce}</p>}
    </div>
  );
}
