import { X } from 'lucide-react';
import { AlertDialog, Dialog as Primitive } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { Checkbox, TextField } from './field.tsx';
import { useFocusReturn } from './focus-return.ts';

const overlay = 'fixed inset-0 z-40 bg-scrim';
const panel =
  'opens fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-32px)] -translate-x-1/2 -translate-y-1/2 flex-col ' +
  'w-[calc(100vw-32px)] rounded-dialog border border-line bg-raised break-words shadow-layer';

/** A button names its object: a long name breaks on narrow screens. */
const footerClass =
  'flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3 [&>button]:whitespace-normal ' +
  '[&>button]:wrap-anywhere';

export interface DialogProps {
  readonly isOpen: boolean;
  onClose(): void;
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly width?: 'narrow' | 'wide';
  /** Closed by its buttons only: for a secret that is shown once. */
  readonly isModalOnly?: boolean;
}

export function Dialog({ isOpen, onClose, title, about, children, footer, width, isModalOnly = false }: DialogProps) {
  const keepOpen = (event: Event) => isModalOnly && event.preventDefault();
  const returnFocus = useFocusReturn(isOpen);
  return (
    <Primitive.Root open={isOpen} onOpenChange={open => !open && onClose()}>
      <Primitive.Portal>
        <Primitive.Overlay className={overlay} />
        <Primitive.Content
          className={classNames(panel, width === 'wide' ? 'max-w-[1100px]' : 'max-w-[520px]')}
          onEscapeKeyDown={keepOpen}
          onPointerDownOutside={keepOpen}
          onCloseAutoFocus={returnFocus}
          {...(about === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className="flex items-start gap-4 border-b border-line px-5 py-4">
            <div className="grow">
              <Primitive.Title className="text-large">{title}</Primitive.Title>
              {about !== undefined && <Primitive.Description className="text-dim">{about}</Primitive.Description>}
            </div>
            {!isModalOnly && <IconButton icon={X} label={sharedTexts.kit.close} onClick={onClose} />}
          </header>
          <div className="overflow-auto px-5 py-4">{children}</div>
          {footer && <footer className={footerClass}>{footer}</footer>}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

/** Tier of a confirmation: 2 a dialog, 3 with a tick, 4 with the name of the object. Tier 1 asks nothing. */
export type ConfirmTier = 2 | 3 | 4;

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly tier: ConfirmTier;
  readonly title: string;
  /** Consequence of the action. */
  readonly consequence: ReactNode;
  /** Fields between the consequence and the confirmation. */
  readonly children?: ReactNode;
  /** Verb and object: "Delete API Orders". */
  readonly action: string;
  /** The object can be restored afterwards: the text of the tick says so. */
  readonly canRestore?: boolean;
  /** Typed to confirm tier 4. */
  readonly name?: string;
  readonly isBusy?: boolean;
  /** `primary` where the action ends and removes nothing. */
  readonly kind?: 'danger' | 'primary';
  onConfirm(): void;
  onClose(): void;
}

export function ConfirmDialog({ isOpen, onClose, ...rest }: ConfirmProps) {
  const returnFocus = useFocusReturn(isOpen);
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={open => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={overlay} />
        <AlertDialog.Content className={classNames(panel, 'max-w-[480px]')} onCloseAutoFocus={returnFocus}>
          <Confirmation {...rest} />
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

function Confirmation({
  tier,
  title,
  consequence,
  action,
  name = '',
  canRestore = false,
  isBusy = false,
  kind = 'danger',
  children,
  onConfirm,
}: Omit<ConfirmProps, 'isOpen' | 'onClose'>) {
  const [isTicked, setTicked] = useState(false);
  const [typed, setTyped] = useState('');
  const isConfirmed = tier === 2 || (tier === 3 ? isTicked : typed === name);
  return (
    <>
      <div className="flex flex-col gap-3 overflow-auto p-5">
        <AlertDialog.Title className="text-large">{title}</AlertDialog.Title>
        <AlertDialog.Description asChild>
          <div className="text-dim">{consequence}</div>
        </AlertDialog.Description>
        {children}
        {tier === 3 && (
          <Checkbox
            label={canRestore ? sharedTexts.kit.understandRestorable : sharedTexts.kit.understand}
            checked={isTicked}
            onChange={it => setTicked(it.target.checked)}
          />
        )}
        {tier === 4 && (
          <TextField label={sharedTexts.kit.typeName(name)} value={typed} onChange={it => setTyped(it.target.value)} />
        )}
      </div>
      <footer className={footerClass}>
        <AlertDialog.Cancel asChild>
          <Button>{sharedTexts.kit.cancel}</Button>
        </AlertDialog.Cancel>
        <Button kind={kind} disabled={!isConfirmed} isBusy={isBusy} onClick={onConfirm}>
          {action}
        </Button>
      </footer>
    </>
  );
}
