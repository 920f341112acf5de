import { X } from 'lucide-react';
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { StatusPill } from './badge.tsx';
import { Button, IconButton } from './button.tsx';

interface ToastAction {
  readonly label: string;
  onSelect(): void;
}

interface Toast {
  readonly id: number;
  readonly kind: 'success' | 'warning' | 'error';
  readonly text: string;
  readonly action?: ToastAction | undefined;
}

export interface Toasts {
  showSuccess(text: string, action?: ToastAction): void;
  /** Stays until it is closed, or another action succeeds. */
  showError(text: string): void;
  /** Stays until it is closed: the action succeeded, and may not do what was meant. */
  showWarning(text: string): void;
}

const ToastContext = createContext<Toasts | undefined>(undefined);

export function useToasts(): Toasts {
  const toasts = use(ToastContext);
  if (!toasts) throw new Error('useToasts needs ToastProvider above it');
  return toasts;
}

const maxToasts = 4;
let nextId = 1;

/** Messages in a live region at the lower edge; successes leave after a time of the user's choice. */
export function ToastProvider({ seconds, children }: { seconds: number; children: ReactNode }) {
  const [list, setList] = useState<readonly Toast[]>([]);
  const remove = useCallback((id: number) => setList(before => before.filter(it => it.id !== id)), []);
  const toasts = useMemo<Toasts>(() => {
    const add = (toast: Omit<Toast, 'id'>) =>
      setList(before => [...before, { ...toast, id: nextId++ }].slice(-maxToasts));
    return {
      // An error of an earlier attempt is over once an action succeeds.
      showSuccess: (text, action) => {
        setList(before => before.filter(({ kind }) => kind !== 'error'));
        add({ kind: 'success', text, action });
      },
      showError: text => add({ kind: 'error', text }),
      showWarning: text => add({ kind: 'warning', text }),
    };
  }, []);
  return (
    <ToastContext value={toasts}>
      {children}
      <section
        aria-label={sharedTexts.kit.notifications}
        aria-live="polite"
        className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-end gap-2"
      >
        {list.map(toast => (
          <ToastCard key={toast.id} toast={toast} seconds={seconds} onClose={() => remove(toast.id)} />
        ))}
      </section>
    </ToastContext>
  );
}

interface ToastCardProps {
  readonly toast: Toast;
  readonly seconds: number;
  onClose(): void;
}

const card =
  'opens pointer-events-auto flex max-w-[480px] items-center gap-3 rounded-card border border-line bg-raised py-2 pr-2 ' +
  'pl-3 shadow-layer';

const tones = { success: 'success', warning: 'warning', error: 'danger' } as const;
const words = { success: 'Done', warning: 'Warning', error: 'Error' } as const;

function ToastCard({ toast: { kind, text, action }, seconds, onClose }: ToastCardProps) {
  useEffect(() => {
    if (kind !== 'success') return;
    const timer = setTimeout(onClose, seconds * 1000);
    return () => clearTimeout(timer);
  }, [kind, seconds, onClose]);
  const choose = () => {
    action?.onSelect();
    onClose();
  };
  return (
    <div className={card}>
      <StatusPill tone={tones[kind]}>{words[kind]}</StatusPill>
      <span className="grow break-words">{text}</span>
      {action && <Button onClick={choose}>{action.label}</Button>}
      <IconButton icon={X} label={sharedTexts.kit.close} onClick={onClose} />
    </div>
  );
}
