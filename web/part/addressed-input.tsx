/**
 * A field whose text is in the address of the page. The address follows a moment later: what was
 * typed in between must not be taken back, so while it is typed into, the field goes before.
 */
import { type ComponentProps, useEffect, useRef, useState } from 'react';

export interface AddressedInputProps
  extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'ref'> {
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly value: string | undefined;
  readonly onType: (text: string | undefined) => void;
  /** Typing goes here as soon as the page is there. */
  readonly isFirst?: boolean;
}

export function AddressedInput(props: AddressedInputProps) {
  const { label, isLabelHidden, value = '', onType, isFirst, ...rest } = props;
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  useEffect(() => {
    if (document.activeElement !== field.current) setText(value);
  }, [value]);
  useEffect(() => {
    if (isFirst) field.current?.focus();
  }, [isFirst]);
  return (
    <label className="field">
      <span className={isLabelHidden ? 'hidden-text' : undefined}>{label}</span>
      <input
        {...rest}
        ref={field}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          onType(target.value || undefined);
        }}
      />
    </label>
  );
}
