(* Lemma L: how many concepts the best answer to a query can leave out, at most (theory 2.7).

   The means of a query under the concepts that are still possible are a list of reals. An answer v keeps the means
   within tau of it. If the means have squared distances from some c that sum to at most 1/4, some answer loses e of
   them with 8 tau^2 e < 1, strictly. *)

Require Import Reals Lra Lia List Permutation Sorted Arith.
Import ListNotations.
Open Scope R_scope.

(* Sums over 0 <= i < n. *)

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S n => sum n f + f n
  end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; intros H; simpl; [reflexivity |]. rewrite IHn, H; auto. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; intros H; simpl; [lra |].
  assert (sum n f <= sum n g) by (apply IHn; auto). assert (f n <= g n) by auto. lra.
Qed.

Lemma sum_lt n f g : (0 < n)%nat -> (forall i, (i < n)%nat -> f i < g i) -> sum n f < sum n g.
Proof.
  destruct n; intros Hn H; [lia |]. simpl.
  assert (sum n f <= sum n g) by (apply sum_le; intros; apply Rlt_le; auto). assert (f n < g n) by auto. lra.
Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; [lra |]. rewrite IHn; lra. Qed.

Lemma sum_scal n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n; simpl; [lra |]. rewrite IHn; lra. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; lra |]. rewrite S_INR. simpl. rewrite IHn. lra. Qed.

Lemma sum_split n m f : sum (n + m) f = sum n f + sum m (fun i => f (n + i)%nat).
Proof.
  induction m; [rewrite Nat.add_0_r; simpl; lra |].
  rewrite Nat.add_succ_r. simpl. rewrite IHm. lra.
Qed.

Lemma sum_first n f : sum (S n) f = f O + sum n (fun i => f (S i)).
Proof. induction n; [simpl; lra |]. change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IHn. simpl. lra. Qed.

Lemma sum_nonneg n f : (forall i, 0 <= f i) -> 0 <= sum n f.
Proof. intros H. induction n; simpl; [lra |]. specialize (H n). lra. Qed.

(* A sum over w consecutive numbers of something that depends on their remainders only, and the sum of quotients. *)

Lemma sum_rotate w m h : (0 < w)%nat -> sum w (fun j => h ((m + j) mod w)%nat) = sum w h.
Proof.
  intros Hw. induction m.
  - apply sum_ext. intros i Hi. now rewrite Nat.add_0_l, Nat.mod_small.
  - rewrite <- IHm. set (g j := h ((m + j) mod w)%nat).
    assert (E : sum w (fun j => h ((S m + j) mod w)%nat) = sum w (fun j => g (S j))).
    { apply sum_ext. intros i _. unfold g. now rewrite Nat.add_succ_comm. }
    rewrite E. pose proof (sum_first w g) as F. simpl in F.
    assert (G : g w = g O).
    { unfold g. rewrite Nat.add_0_r. f_equal. replace (m + w)%nat with (m + 1 * w)%nat by lia.
      apply Nat.mod_add. lia. }
    lra.
Qed.

Lemma sum_quotients w m : (0 < w)%nat -> sum w (fun j => INR ((m + j) / w)) = INR m.
Proof.
  intros Hw. induction m.
  - rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; simpl; lra |].
    intros i Hi. rewrite Nat.add_0_l, Nat.div_small; auto.
  - rewrite S_INR, <- IHm. set (g j := INR ((m + j) / w)).
    assert (E : sum w (fun j => INR ((S m + j) / w)) = sum w (fun j => g (S j))).
    { apply sum_ext. intros i _. unfold g. now rewrite Nat.add_succ_comm. }
    rewrite E. pose proof (sum_first w g) as F. simpl in F.
    assert (G : g w = g O + 1).
    { unfold g. rewrite Nat.add_0_r, <- S_INR. f_equal. replace (m + w)%nat with (m + 1 * w)%nat by lia.
      rewrite Nat.div_add; lia. }
    lra.
Qed.

(* k means in ascending order of which each exceeds the one w places before by more than 2 tau. *)

Section Chains.
  Variables (a : nat -> R) (k w : nat) (tau c : R).
  Hypothesis tau_positive : 0 < tau.
  Hypothesis w_positive : (0 < w)%nat.
  Hypothesis w_below : (w < k)%nat.
  Hypothesis gaps : forall j, (j + w < k)%nat -> 2 * tau < a (j + w)%nat - a j.

  Let square i := (a i - c) ^ 2.

  Lemma square_nonneg i : 0 <= square i.
  Proof. unfold square. apply pow2_ge_0. Qed.

  Lemma chain_gap t j : (j + t * w < k)%nat -> 2 * tau * INR t <= a (j + t * w)%nat - a j.
  Proof.
    induction t; intros H.
    - simpl. rewrite Nat.add_0_r. lra.
    - assert (H' : (j + t * w + w < k)%nat) by (simpl in H; lia).
      pose proof (gaps _ H'). assert (2 * tau * INR t <= a (j + t * w)%nat - a j) by (apply IHt; lia).
      rewrite S_INR. replace (j + S t * w)%nat with (j + t * w + w)%nat by (simpl; lia). lra.
  Qed.

  Lemma chain_gap_strict t j : (0 < t)%nat -> (j + t * w < k)%nat -> 2 * tau * INR t < a (j + t * w)%nat - a j.
  Proof.
    destruct t; intros Ht H; [lia |].
    assert (H' : (j + t * w + w < k)%nat) by (simpl in H; lia).
    pose proof (gaps _ H'). assert (2 * tau * INR t <= a (j + t * w)%nat - a j) by (apply chain_gap; lia).
    rewrite S_INR. replace (j + S t * w)%nat with (j + t * w + w)%nat by (simpl; lia). lra.
  Qed.

  (* The two ends of a chain of t + 1 means alone. *)
  Lemma ends t j : (0 < t)%nat -> (j + t * w < k)%nat -> 2 * tau ^ 2 * INR t < square j + square (j + t * w)%nat.
  Proof.
    intros Ht H. pose proof (chain_gap_strict t j Ht H) as G. unfold square.
    set (x := a j) in *. set (y := a (j + t * w)%nat) in *. set (r := INR t) in *.
    assert (R1 : 1 <= r) by (unfold r; change 1 with (INR 1); apply le_INR; lia).
    assert (P : 0 < tau * r) by (apply Rmult_lt_0_compat; lra).
    assert (S1 : (2 * (tau * r)) ^ 2 < (y - x) ^ 2) by nra.
    assert (S2 : (y - x) ^ 2 <= 2 * ((x - c) ^ 2 + (y - c) ^ 2)) by (pose proof (pow2_ge_0 (x + y - 2 * c)); nra).
    assert (S3 : tau ^ 2 * r <= (tau * r) ^ 2) by (assert (0 < tau ^ 2) by (simpl; nra); nra).
    nra.
  Qed.

  Theorem spread : 2 * tau ^ 2 * INR (k - w) < sum k square.
  Proof.
    set (m := (k - w)%nat). destruct (le_lt_dec w m) as [long | short].
    - (* Every chain has two ends or more: the first w means and the last w. *)
      assert (K : sum k square = sum m square + sum w (fun j => square (m + j)%nat)).
      { replace k with (m + w)%nat at 1 by lia. apply sum_split. }
      assert (M : sum w square <= sum m square).
      { replace m with (w + (m - w))%nat by lia. rewrite sum_split.
        pose proof (sum_nonneg (m - w) (fun i => square (w + i)%nat) (fun i => square_nonneg _)). lra. }
      rewrite <- (sum_rotate w m square w_positive) in M.
      rewrite <- (sum_quotients w m w_positive), <- sum_scal.
      apply Rlt_le_trans with (sum w (fun j => square ((m + j) mod w)%nat + square (m + j)%nat)).
      + apply sum_lt; auto. intros j Hj.
        pose proof (Nat.div_mod (m + j) w) as D. pose proof (Nat.div_str_pos (m + j) w) as Q.
        set (t := ((m + j) / w)%nat) in *. set (p := ((m + j) mod w)%nat) in *.
        replace (m + j)%nat with (p + t * w)%nat by (rewrite D; lia). apply ends; [apply Q |]; lia.
      + rewrite sum_plus. lra.
    - (* Chains of one or two: the pairs (j, j + w). *)
      assert (K : sum k square = sum w square + sum m (fun j => square (w + j)%nat)).
      { replace k with (w + m)%nat at 1 by lia. apply sum_split. }
      assert (W : sum m square <= sum w square).
      { replace w with (m + (w - m))%nat by lia. rewrite sum_split.
        pose proof (sum_nonneg (w - m) (fun i => square (m + i)%nat) (fun i => square_nonneg _)). lra. }
      apply Rlt_le_trans with (sum m (fun j => square j + square (w + j)%nat)); [| rewrite sum_plus; lra].
      replace (2 * tau ^ 2 * INR m) with (sum m (fun _ => 2 * tau ^ 2)) by (rewrite sum_const; lra).
      apply sum_lt; [lia |]. intros j Hj. pose proof (ends 1 j) as En. simpl INR in En.
      replace (w + j)%nat with (j + 1 * w)%nat by lia.
      replace (2 * tau ^ 2) with (2 * tau ^ 2 * 1) by lra. apply En; lia.
  Qed.
End Chains.

(* Lists of means. *)

Definition within (tau v x : R) : bool := if Rle_dec (Rabs (x - v)) tau then true else false.

Fixpoint lost (tau v : R) (l : list R) : nat :=
  match l with
  | [] => O
  | x :: l => ((if within tau v x then 0 else 1) + lost tau v l)%nat
  end.

Fixpoint squares (c : R) (l : list R) : R :=
  match l with
  | [] => 0
  | x :: l => (x - c) ^ 2 + squares c l
  end.

Lemma lost_permutation tau v l l' : Permutation l l' -> lost tau v l = lost tau v l'.
Proof. induction 1; simpl; lia. Qed.

Lemma squares_permutation c l l' : Permutation l l' -> squares c l = squares c l'.
Proof. induction 1; simpl; lra. Qed.

Lemma lost_sum tau v l : INR (lost tau v l) = sum (length l) (fun i => if within tau v (nth i l 0) then 0 else 1).
Proof.
  induction l as [| x l IH]; [reflexivity |].
  simpl length. rewrite sum_first. simpl nth. rewrite <- IH. simpl lost. rewrite plus_INR.
  destruct (within tau v x); simpl; lra.
Qed.

Lemma squares_sum c l : squares c l = sum (length l) (fun i => (nth i l 0 - c) ^ 2).
Proof.
  induction l as [| x l IH]; [reflexivity |].
  simpl length. rewrite sum_first. simpl nth. rewrite <- IH. reflexivity.
Qed.

Section Sorting.
  Variables (A : Type) (key : A -> R).
  Definition below (x y : A) : Prop := key x <= key y.

  Fixpoint insert (x : A) (l : list A) : list A :=
    match l with
    | [] => [x]
    | y :: l => if Rle_dec (key x) (key y) then x :: y :: l else y :: insert x l
    end.

  Lemma insert_permutation x l : Permutation (x :: l) (insert x l).
  Proof.
    induction l as [| y l IH]; simpl; [reflexivity |]. destruct (Rle_dec (key x) (key y)); [reflexivity |].
    rewrite perm_swap. now constructor.
  Qed.

  Lemma insert_sorted x l : StronglySorted below l -> StronglySorted below (insert x l).
  Proof.
    induction 1 as [| y l H IH F]; simpl; [repeat constructor |]. destruct (Rle_dec (key x) (key y)) as [le | gt].
    - constructor; [now constructor |]. constructor; auto. eapply Forall_impl; [| exact F].
      unfold below. simpl. intros; lra.
    - constructor; auto. apply (Permutation_Forall (insert_permutation x l)). constructor; auto. unfold below. lra.
  Qed.

  Lemma sorting l : exists l', Permutation l l' /\ StronglySorted below l'.
  Proof.
    induction l as [| x l [l' [P H]]]; [exists []; split; constructor |]. exists (insert x l'). split.
    - transitivity (x :: l'); [now constructor | apply insert_permutation].
    - now apply insert_sorted.
  Qed.

  Lemma sorted_keys l : StronglySorted below l -> StronglySorted Rle (map key l).
  Proof. induction 1; simpl; constructor; auto. now apply Forall_map. Qed.
End Sorting.

Lemma sorted_nth l : StronglySorted Rle l -> forall i j, (i <= j < length l)%nat -> nth i l 0 <= nth j l 0.
Proof.
  induction 1 as [| x l H IH F]; intros i j Hij; simpl in Hij; [lia |].
  destruct j; [assert (i = O) by lia; subst; simpl; lra |]. destruct i; simpl.
  - rewrite Forall_forall in F. apply F, nth_In. lia.
  - apply IH. lia.
Qed.

(* The window that begins at the mean j and holds the n from there on. *)

Lemma window_keeps tau l n j :
  StronglySorted Rle l -> (1 <= n)%nat -> (j + n <= length l)%nat -> nth (j + n - 1) l 0 - nth j l 0 <= 2 * tau ->
  (lost tau (nth j l 0 + tau)%R l <= length l - n)%nat.
Proof.
  intros St N J F. apply INR_le. rewrite lost_sum.
  set (f i := if within tau (nth j l 0 + tau) (nth i l 0) then 0 else 1).
  assert (f1 : forall i, f i <= 1) by (intros i; unfold f; destruct within; lra).
  replace (length l) with (j + (n + (length l - n - j)))%nat at 1 by lia. rewrite !sum_split.
  assert (A : sum j f <= INR j * 1) by (rewrite <- sum_const; apply sum_le; auto).
  assert (M : sum n (fun i => f (j + i)%nat) <= INR n * 0).
  { rewrite <- sum_const. apply sum_le. intros i Hi. unfold f, within.
    destruct Rle_dec as [le | gt]; [lra |]. exfalso. apply gt.
    assert (nth j l 0 <= nth (j + i) l 0) by (apply sorted_nth; auto; lia).
    assert (nth (j + i) l 0 <= nth (j + n - 1) l 0) by (apply sorted_nth; auto; lia).
    apply Rabs_le. lra. }
  assert (Z : sum (length l - n - j) (fun i => f (j + (n + i))%nat) <= INR (length l - n - j) * 1)
    by (rewrite <- sum_const; apply sum_le; auto).
  replace (INR (length l - n)) with (INR j + INR (length l - n - j)) by (rewrite <- plus_INR; f_equal; lia). lra.
Qed.

(* The largest number of consecutive means that one window holds. *)

Definition fits (l : list R) (tau : R) (n j : nat) : Prop :=
  (j + n <= length l)%nat /\ nth (j + n - 1) l 0 - nth j l 0 <= 2 * tau.

Lemma fits_dec l tau n b : {exists j, (j < b)%nat /\ fits l tau n j} + {forall j, (j < b)%nat -> ~ fits l tau n j}.
Proof.
  induction b as [| b [yes | no]].
  - right. intros; lia.
  - left. destruct yes as [j [Hj F]]. exists j. split; [lia | exact F].
  - destruct (le_dec (b + n) (length l)) as [le | gt];
      [destruct (Rle_dec (nth (b + n - 1) l 0 - nth b l 0) (2 * tau)) as [small | large] |].
    + left. exists b. split; [lia | split; auto].
    + right. intros j Hj [L F]. destruct (Nat.eq_dec j b); [subst; lra |]. apply (no j); [lia | split; auto].
    + right. intros j Hj [L F]. destruct (Nat.eq_dec j b); [subst; lia |]. apply (no j); [lia | split; auto].
Qed.

Lemma widest l tau : l <> [] -> 0 < tau ->
  exists n, (1 <= n <= length l)%nat /\ (exists j, fits l tau n j) /\ (forall j, ~ fits l tau (S n) j).
Proof.
  intros N T. assert (L : (0 < length l)%nat) by (destruct l; [now destruct N | simpl; lia]).
  assert (B : exists j, fits l tau 1 j).
  { exists O. split; [lia |]. simpl. replace (nth 0 l 0 - nth 0 l 0) with 0 by lra. lra. }
  (* Downwards from the whole length. *)
  assert (D : forall d, (d < length l)%nat ->
     (exists n, (length l - d <= n <= length l)%nat /\ (exists j, fits l tau n j) /\ (forall j, ~ fits l tau (S n) j))
     \/ (forall j, ~ fits l tau (length l - d) j)).
  { induction d; intros Hd.
    - destruct (fits_dec l tau (length l - 0) (S (length l))) as [[j [_ F]] | no].
      + left. exists (length l). split; [lia |]. split; [exists j; now rewrite Nat.sub_0_r in F |].
        intros i [G _]. lia.
      + right. intros j F. apply (no j); auto. destruct F as [F _]. lia.
    - destruct IHd as [[n [H F]] | no]; [lia | left; exists n; split; [lia | exact F] |].
      destruct (fits_dec l tau (length l - S d) (S (length l))) as [[j [_ F]] | no'].
      + left. exists (length l - S d)%nat. split; [lia |]. split; [exists j; exact F |].
        replace (S (length l - S d)) with (length l - d)%nat by lia. exact no.
      + right. intros j F. apply (no' j); auto. destruct F as [F _]. lia. }
  destruct (D (length l - 1)%nat) as [[n [H F]] | no]; [lia | exists n; split; [lia | exact F] |].
  destruct B as [j F]. exfalso. apply (no j). replace (length l - (length l - 1))%nat with 1%nat by lia. exact F.
Qed.

Theorem lemma_L (tau c : R) (l : list R) :
  0 < tau -> squares c l <= 1 / 4 -> exists v, 8 * tau ^ 2 * INR (lost tau v l) < 1.
Proof.
  intros T Q. destruct (sorting R (fun x => x) l) as [l' [P St]].
  apply sorted_keys in St. rewrite map_id in St.
  rewrite (squares_permutation c _ _ P) in Q.
  assert (G : exists v, 8 * tau ^ 2 * INR (lost tau v l') < 1);
    [| destruct G as [v H]; exists v; now rewrite (lost_permutation tau v _ _ P)].
  destruct l' as [| x l'']; [exists 0; simpl; lra |].
  set (s := x :: l'') in *. destruct (widest s tau) as [n [[N1 N2] [[j [J F]] no]]]; [discriminate | assumption |].
  exists (nth j s 0 + tau).
  assert (Few : INR (lost tau (nth j s 0 + tau) s) <= INR (length s - n)) by (apply le_INR; now apply window_keeps).
  destruct (Nat.eq_dec n (length s)) as [all | some].
  - replace (length s - n)%nat with O in Few by lia. change (INR 0) with 0 in Few.
    pose proof (pos_INR (lost tau (nth j s 0 + tau) s)).
    assert (Z : INR (lost tau (nth j s 0 + tau) s) = 0) by lra. rewrite Z. lra.
  - assert (W : 2 * tau ^ 2 * INR (length s - n) < sum (length s) (fun i => (nth i s 0 - c) ^ 2)).
    { apply spread; auto; try lia. intros i Hi. apply Rnot_le_lt. intros B. apply (no i). split; [lia |].
      replace (i + S n - 1)%nat with (i + n)%nat by lia. exact B. }
    rewrite <- squares_sum in W. assert (0 < tau ^ 2) by (simpl; nra). nra.
Qed.

Check lemma_L.
Print Assumptions lemma_L.
