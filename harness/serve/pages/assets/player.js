/* Plays events by their virtual times: at any speed, with pause, step and a way to the end. */

import { el } from "./dom.js";
import { t } from "./words.js";

const TICK_MS = 200;

export class Player {
  /**
   * `show` is called with each event and tells whether there is anything to see of it, `tick` with the virtual time
   * while an event is waited for, `ended` once when none is left or it was stopped.
   */
  constructor({ speed, show, ended, tick = () => {} }) {
    this.speed = speed;
    this.show = show;
    this.ended = ended;
    this.tick = tick;
    this.events = [];
    this.next = 0;
    this.paused = false;
    this.closed = false;
    this.pause = button(t("pause"), () => this.toggle());
    this.step = button(t("step"), () => this.once());
    this.finish = button(t("to_the_end"), () => this.toEnd());
    this.stop = button(t("stop"), () => this.end());
    this.element = el("div", { class: "row player", role: "group", "aria-label": t("player") }, this.pause, this.step, this.finish, this.stop);
  }

  /** Begin with all `events` of a trial. */
  play(events) {
    this.events = events;
    if (this.speed === "step") this.toggle();
    else this.#go();
  }

  toggle() {
    this.paused = !this.paused;
    this.pause.textContent = this.paused ? t("go_on") : t("pause");
    if (this.paused) {
      clearTimeout(this.timer);
      return;
    }
    if (this.speed === "step") this.speed = "1";
    this.#go();
  }

  once() {
    if (!this.paused) this.toggle();
    while (!this.closed && !this.#one());
  }

  toEnd() {
    clearTimeout(this.timer);
    while (!this.closed) this.#one();
  }

  end() {
    if (this.closed) return;
    clearTimeout(this.timer);
    this.closed = true;
    this.element.hidden = true;
    this.ended(this.next >= this.events.length);
  }

  #go() {
    clearTimeout(this.timer);
    while (!this.closed && !this.paused) {
      const wait = this.#wait();
      if (wait > 0) {
        this.#waitFor(performance.now() + wait);
        return;
      }
      this.#one();
    }
  }

  /** Wait until `due`, and say now and then how late it is in the trial. */
  #waitFor(due) {
    const left = due - performance.now();
    if (left <= 0) {
      this.#one();
      this.#go();
      return;
    }
    this.tick((this.events[this.next].ts ?? 0) - left * Number(this.speed));
    this.timer = setTimeout(() => this.#waitFor(due), Math.min(left, TICK_MS));
  }

  #wait() {
    if (this.speed === "instant" || this.next === 0) return 0;
    const before = this.events[this.next - 1]?.ts ?? 0;
    const after = this.events[this.next]?.ts ?? before;
    return after > before ? (after - before) / Number(this.speed) : 0;
  }

  #one() {
    let seen = false;
    if (this.next < this.events.length) {
      seen = this.show(this.events[this.next]);
      this.next += 1;
    }
    if (this.next >= this.events.length) this.end();
    return seen;
  }
}

function button(text, act) {
  const made = el("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}
